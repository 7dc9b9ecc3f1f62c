// The clip's video: evidence on a time line under it, boxes of the entity tables over it.
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#806000", "#56b4e9", "#000000"]; // Okabe and Ito
const DASHES = ["", "6 3", "2 3", "8 3 2 3", "1 2", "12 4", "4 1"];
const BOX_REACH = 0.75; // a box is shown this many seconds around its time

let player = null;
let duration = 0;
let aspect = 1;

function videoPanel(clip, doc) {
  player = null;
  duration = clip.duration || 0;
  const panel = h("section", { class: "video", "aria-label": clip.id });
  panel.append(h("h2", { class: "clip-name", dir: "auto" }, say(clip.id)), clip.truncated ? h("p", { class: "trouble" }, words.truncated) : "");
  if (clip.video) {
    player = h("video", { controls: true, preload: "metadata", playsinline: true, src: videoSource(clip.video), "aria-label": clip.id });
    player.muted = true;
    const overlay = h("svg", { class: "boxes", viewBox: "0 0 1000 1000", preserveAspectRatio: "none", "aria-hidden": "true" });
    player.addEventListener("loadedmetadata", () => {
      if (player.videoHeight) aspect = player.videoWidth / player.videoHeight;
      overlay.setAttribute("viewBox", `0 0 ${1000 * aspect} 1000`); // as wide as it is high in units, so that names aren't stretched
      if (isFinite(player.duration)) { duration = player.duration; drawSpans(); }
    });
    player.addEventListener("timeupdate", () => tick(doc, overlay));
    player.addEventListener("seeked", () => tick(doc, overlay));
    player.addEventListener("error", () => panel.querySelector(".trouble").textContent = words.video_missing);
    panel.append(h("div", { class: "stage" }, player, overlay), h("p", { class: "trouble" }));
  } else {
    panel.append(h("p", { class: "trouble" }, words.video_missing));
  }
  panel.append(h("div", { id: "spans", class: "spans", role: "group", "aria-label": words.evidence }));
  return panel;
}

function seek(time) {
  if (!player || time === null || time === undefined) return;
  player.currentTime = Math.max(0, Math.min(time, isFinite(player.duration) ? player.duration : time));
  announce(seconds(time));
}

function tick(doc, overlay) {
  const at = player.currentTime;
  const head = document.getElementById("playhead");
  if (head && duration) head.style.left = `${Math.min(100, (100 * at) / duration)}%`;
  const scrub = document.querySelector(".scrub");
  if (scrub && document.activeElement !== scrub) scrub.value = at;
  overlay.replaceChildren();
  doc.tables.forEach((table, run) => {
    if (!table || !table.table) return;
    for (const entity of table.table.entities || []) {
      const near = nearest(entity.boxes || [], at);
      if (near) overlay.append(...boxMarks(near.box, COLOURS[run % COLOURS.length], DASHES[run % DASHES.length], entity.id));
    }
  });
  for (const label of doc.gold)
    for (const entity of (label.stage0 && label.stage0.entities) || []) {
      const near = nearest(entity.boxes || [], at);
      if (near) overlay.append(...boxMarks(near.box, "#111", "2 2", `${label.labeler}: ${entity.id}`));
    }
  if (state.drawing && state.drawing.box) overlay.append(...boxMarks(state.drawing.box, "#e69f00", "", ""));
}

function nearest(boxes, at) {
  let best = null;
  for (const box of boxes) if (Math.abs(box.t - at) <= BOX_REACH && (!best || Math.abs(box.t - at) < Math.abs(best.t - at))) best = box;
  return best;
}

function boxMarks([x1, y1, x2, y2], colour, dash, label) {
  const place = { x: aspect * Math.min(x1, x2), y: Math.min(y1, y2), width: aspect * Math.abs(x2 - x1), height: Math.abs(y2 - y1) };
  return [
    h("rect", { ...place, fill: "none", stroke: "#fff", "stroke-width": 4, "vector-effect": "non-scaling-stroke" }),
    h("rect", { ...place, fill: "none", stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dash, "vector-effect": "non-scaling-stroke" }),
    h("text", { x: place.x + 6, y: Math.max(30, place.y - 8), fill: colour, class: "box-name" }, say(label)),
  ];
}

// One lane per source of evidence for the chosen turn: labels first, then the runs.
function drawSpans() {
  const holder = document.getElementById("spans");
  if (!holder || !state.doc) return;
  holder.replaceChildren();
  const turn = state.doc.turns[state.turn];
  const lanes = [];
  if (turn) {
    for (const label of turn.labels) lanes.push({ name: label.labeler, spans: [label], colour: "#333" });
    turn.cells.forEach((cell, run) => {
      if (!cell) return;
      const spans = cell.answer && cell.answer.evidence_start !== null && cell.answer.evidence_start !== undefined ? [cell.answer] : cell.samples || [];
      lanes.push({ name: index().runs[run].id, spans, colour: COLOURS[run % COLOURS.length], run });
    });
  }
  const contacts = [
    ...state.doc.gold.map((label) => ({ at: label.stage0 ? label.stage0.contact_time : null, name: label.labeler, colour: "#111" })),
    ...state.doc.tables.map((table, run) => ({ at: table && table.table ? table.table.contact_time : null, name: index().runs[run].id, colour: COLOURS[run % COLOURS.length] })),
  ].filter((one) => one.at !== null && one.at !== undefined);
  if (!duration) return;
  for (const lane of lanes) {
    const marks = lane.spans.map((span) => spanMark(span, lane)).filter(Boolean);
    if (marks.length) holder.append(h("div", { class: "lane" }, h("span", { class: "lane-name", dir: "auto" }, say(lane.name)), h("div", { class: "track" }, marks)));
  }
  if (contacts.length)
    holder.append(h("div", { class: "lane" }, h("span", { class: "lane-name" }, words.contact),
      h("div", { class: "track" }, contacts.map(({ at, name, colour }) => h("button", { type: "button", class: "moment", title: `${name}: ${seconds(at)}`,
        "aria-label": `${words.contact} ${name} ${seconds(at)}`, style: { left: `${(100 * at) / duration}%`, borderColor: colour }, onclick: () => seek(at) })))));
  const track = h("input", { type: "range", class: "scrub", min: 0, max: duration, step: 0.05, "aria-label": seconds(duration), oninput: (event) => seek(Number(event.target.value)) });
  track.value = player ? player.currentTime : 0;
  if (player) holder.append(h("div", { class: "lane" }, h("span", { class: "lane-name" }, "0 – " + seconds(duration)), h("div", { class: "track" }, h("span", { id: "playhead", class: "playhead" }), track)));
}

function spanMark(span, lane) {
  const start = span.evidence_start, end = span.evidence_end ?? start;
  if (start === null || start === undefined) return null;
  const left = Math.max(0, Math.min(100, (100 * start) / duration));
  const width = Math.max(0.8, Math.min(100 - left, (100 * (end - start)) / duration));
  const text = `${lane.name}: ${seconds(start)} – ${seconds(end)}`;
  return h("button", { type: "button", class: "span", title: text, "aria-label": `${words.evidence} ${text}`, style: { left: `${left}%`, width: `${width}%`, background: lane.colour }, onclick: () => seek(start) });
}

function tablesPanel(doc) {
  const panel = h("details", { class: "tables" }, h("summary", {}, words.entities));
  doc.tables.forEach((table, run) => {
    if (!index().runs[run]) return;
    panel.append(h("h3", { dir: "auto" }, say(index().runs[run].id)));
    if (!table || !table.table) return panel.append(h("p", {}, words.table_none));
    const facts = table.table;
    panel.append(h("p", {}, `${words.contact}: ${seconds(facts.contact_time)} · ${words.ego_lane}: ${facts.ego_lane ?? "–"} / ${facts.lane_count ?? "–"}`));
    panel.append(h("ul", {}, (facts.entities || []).map((entity) => h("li", {}, h("b", {}, say(entity.id)), ` ${entity.kind}, ${entity.role}, ${entity.heading || "unknown"}`,
      entity.lane ? `, ${entity.lane}` : "", " ", prose(entity.descriptor || ""), ` (${seconds(entity.first_seen)} – ${seconds(entity.last_seen)})`))));
    if (table.violations.length) panel.append(violations(table.violations));
  });
  return panel;
}
