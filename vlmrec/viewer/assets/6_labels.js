// Labelling: every edit is an event in the store's label log; undo withdraws the labeller's last one.
function labelForm(turn) {
  const mine = turn.labels.find((label) => label.labeler === state.labeler && label.here);
  const choice = h("select", { "aria-label": `${words.value} ${turn.question_id} ${turn.party}` }, h("option", { value: "" }, "–"),
    turn.options.map((option) => h("option", { value: "observed:" + option.code }, option.label)),
    Object.keys(words.statuses).filter((status) => status !== "observed").map((status) => h("option", { value: status + ":" }, words.statuses[status])));
  if (mine) choice.value = mine.status === "observed" ? "observed:" + mine.value : mine.status + ":";
  const start = timeField(words.from, mine ? mine.evidence_start : null, turn);
  const end = timeField(words.to, mine ? mine.evidence_end : null, turn);
  const save = h("button", { type: "submit" }, words.set_label);
  return h("form", { class: "label-form", "data-key": `${turn.question_id}/${turn.party}`, oninput: touched, onsubmit: async (event) => {
    event.preventDefault();
    if (!choice.value) return;
    const [status, value] = [choice.value.slice(0, choice.value.indexOf(":")), choice.value.slice(choice.value.indexOf(":") + 1)];
    await edit({ question_id: turn.question_id, party: turn.party, status, value: value || null, evidence_start: number(start), evidence_end: number(end) }, event.currentTarget);
  } }, choice, start, end, save);
}

// What was typed and not yet saved outlives a redraw, whoever caused it.
const touched = (event) => { event.currentTarget.dataset.touched = "yes"; };

function unsaved() {
  return [...document.querySelectorAll("form[data-touched]")].map((form) => ({ key: form.dataset.key, values: [...form.querySelectorAll("input, select")].map((field) => field.value) }));
}

function putBack(forms) {
  for (const { key, values } of forms) {
    const form = [...document.querySelectorAll("form[data-key]")].find((one) => one.dataset.key === key);
    if (!form) continue;
    form.dataset.touched = "yes";
    [...form.querySelectorAll("input, select")].forEach((field, at) => { field.value = values[at]; });
  }
}

function timeField(name, value, turn) {
  const field = h("input", { type: "number", step: "0.01", min: "0", "aria-label": `${name} ${turn ? turn.question_id + " " + turn.party : ""} (s)`, placeholder: name });
  if (value !== null && value !== undefined) field.value = value;
  const button = h("button", { type: "button", class: "quiet", "aria-label": `${name}: ${words.here}`, onclick: () => { field.value = player ? player.currentTime.toFixed(2) : ""; field.dispatchEvent(new Event("input", { bubbles: true })); } }, words.here);
  const holder = h("span", { class: "time-field" }, field, button);
  holder.field = field;
  return holder;
}

const number = (holder) => (holder.field.value === "" ? null : Number(holder.field.value));

function leafForm(doc) {
  const mine = doc.gold.find((label) => label.labeler === state.labeler && label.here);
  const field = h("input", { type: "text", "aria-label": words.leaf, placeholder: "차43-2", maxlength: 40 });
  field.value = (mine && mine.leaf) || "";
  const contact = timeField(words.field_contact, mine && mine.stage0 ? mine.stage0.contact_time : null, null);
  const draw = h("button", { type: "button", class: "quiet", onclick: () => startDrawing() }, words.draw);
  const corners = ["x1", "y1", "x2", "y2"].map((name) => h("input", { type: "number", min: 0, max: 1000, step: 1, class: "corner", "aria-label": `${words.field_box} ${name}`, placeholder: name }));
  state.corners = corners;
  return h("div", { class: "label-form" },
    h("form", { "data-key": "leaf", oninput: touched, onsubmit: (event) => { event.preventDefault(); edit({ field: "gold_leaf", field_value: field.value.trim() || null }, event.currentTarget); } }, field, h("button", { type: "submit" }, words.set_label)),
    h("form", { "data-key": "contact", oninput: touched, onsubmit: (event) => { event.preventDefault(); edit({ field: "stage0.contact_time", field_value: number(contact) }, event.currentTarget); } }, contact, h("button", { type: "submit" }, words.set_label)),
    h("form", { "data-key": "box", oninput: touched, onsubmit: (event) => { event.preventDefault();
      const box = corners.map((corner) => Number(corner.value));
      edit({ field: "stage0.counterpart_box", field_value: { t: player ? Number(player.currentTime.toFixed(3)) : 0, box: [Math.min(box[0], box[2]), Math.min(box[1], box[3]), Math.max(box[0], box[2]), Math.max(box[1], box[3])] } }, event.currentTarget);
    } }, corners, draw, h("button", { type: "submit" }, words.set_label)));
}

function startDrawing() {
  const stage = document.querySelector(".stage");
  if (!stage) return;
  player.pause();
  state.drawing = { box: null, from: null };
  stage.classList.add("drawing");
  const at = (event) => {
    const place = stage.getBoundingClientRect();
    return [(1000 * (event.clientX - place.left)) / place.width, (1000 * (event.clientY - place.top)) / place.height].map((one) => Math.round(Math.max(0, Math.min(1000, one))));
  };
  const overlay = stage.querySelector(".boxes");
  overlay.onpointerdown = (event) => { event.preventDefault(); overlay.setPointerCapture(event.pointerId); state.drawing.from = at(event); };
  overlay.onpointermove = (event) => { if (state.drawing && state.drawing.from) { state.drawing.box = [...state.drawing.from, ...at(event)]; tick(state.doc, overlay); } };
  overlay.onpointerup = () => {
    const box = state.drawing && state.drawing.box;
    stage.classList.remove("drawing");
    overlay.onpointerdown = overlay.onpointermove = overlay.onpointerup = null;
    if (box) state.corners.forEach((corner, at_) => { corner.value = box[at_]; corner.dispatchEvent(new Event("input", { bubbles: true })); });
    state.drawing = box ? { box, from: null } : null;
  };
}

async function edit(change, form) {
  if (!state.labeler) return announce(words.labeler), document.getElementById("labeler").focus();
  try {
    await ask("api/labels", { clip: index().clips[state.clip].id, labeler: state.labeler, ...change });
    announce(words.saved);
  } catch (error) {
    announce(`${words.failed}: ${error.message}`);
    document.getElementById("trouble").textContent = `${words.failed}: ${error.message}`;
    return;
  }
  document.getElementById("trouble").textContent = "";
  if (form) delete form.dataset.touched;
  await reloadClip();
}

async function undo() {
  if (!state.labelling) return;
  try {
    const done = await ask("api/labels/undo", { clip: index().clips[state.clip].id, labeler: state.labeler });
    announce(done.withdrawn ? words.undo : "–");
  } catch (error) {
    announce(`${words.failed}: ${error.message}`);
  }
  await reloadClip();
}

async function exportLabels() {
  try {
    const done = await ask("api/labels/export", {});
    announce(`${words.exported}: ${done.files.length} → ${done.folder}`);
    document.getElementById("trouble").textContent = `${words.exported}: ${done.files.length} → ${done.folder}`;
  } catch (error) {
    document.getElementById("trouble").textContent = `${words.failed}: ${error.message}`;
  }
}

function labelBar() {
  const name = h("input", { id: "labeler", type: "text", maxlength: 8, "aria-label": words.labeler, placeholder: words.labeler, oninput: (event) => { state.labeler = event.target.value.trim().toLowerCase() === "reviewed" ? "reviewed" : event.target.value.trim().toUpperCase(); sessionStorage.setItem("labeler", state.labeler); }, onchange: () => reloadClip() });
  name.value = state.labeler;
  return h("div", { class: "label-bar" }, name, h("button", { type: "button", onclick: undo }, `${words.undo} (z)`), h("button", { type: "button", onclick: exportLabels }, words.export));
}
