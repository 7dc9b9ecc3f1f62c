// State, the bar, the list of clips, keys and start.
const state = { index: null, doc: null, clip: 0, turn: 0, view: "clips", labelling: false, labeler: sessionStorage.getItem("labeler") || "", drawing: null,
  filters: { differs: false, wrong: false, contradictions: false, question: "", text: "" } };

// The plots are this program's own SVG, in which every text was escaped when it was drawn; nothing in it can run.
function drawing(source) {
  return [...new DOMParser().parseFromString(source || "", "text/html").body.childNodes].map((node) => document.importNode(node, true));
}

const normal = (text) => text.normalize("NFC").toLowerCase();

function clipShown(clip) {
  const filters = state.filters;
  if (filters.differs && !clip.differs) return false;
  if (filters.wrong && !clip.wrong) return false;
  if (filters.contradictions && !clip.contradictions) return false;
  if (filters.question && !clip.questions.includes(filters.question)) return false;
  return !filters.text || normal(`${clip.id} ${clip.gold || ""} ${clip.runs.map((run) => (run ? `${run.outcome || ""} ${run.charts.join(" ")}` : "")).join(" ")}`).includes(normal(filters.text));
}

function drawBar() {
  const bar = document.getElementById("bar");
  const toggle = (name, key) => h("button", { type: "button", class: "toggle", "aria-pressed": String(state.filters[name]), title: key, onclick: () => setFilter(name, !state.filters[name]) }, words[name]);
  const search = h("input", { id: "search", type: "search", placeholder: words.search, "aria-label": words.search, oninput: (event) => { state.filters.text = event.target.value; drawList(); } });
  search.value = state.filters.text;
  const questions = h("select", { "aria-label": words.question, onchange: (event) => setFilter("question", event.target.value) }, h("option", { value: "" }, words.all),
    index().questions.map((question) => h("option", { value: question }, question)));
  questions.value = state.filters.question;
  const language = h("select", { "aria-label": words.language, onchange: (event) => setLanguage(event.target.value) }, h("option", { value: "ko", lang: "ko" }, "한국어"), h("option", { value: "en", lang: "en" }, "English"));
  language.value = document.documentElement.lang;
  refill(bar,
    h("h1", {}, say(index().title)),
    h("div", { class: "tools", role: "toolbar", "aria-label": index().title },
      h("button", { type: "button", class: "toggle", "aria-pressed": String(state.view === "overview"), onclick: () => setView(state.view === "overview" ? "clips" : "overview") }, words.overview),
      search, toggle("differs", "d"), toggle("wrong", "w"), toggle("contradictions", "c"), questions,
      index().labelling ? h("button", { type: "button", class: "toggle", id: "label-toggle", "aria-pressed": String(state.labelling), onclick: () => setLabelling(!state.labelling) }, words.label_mode) : null,
      language, h("button", { type: "button", onclick: showHelp }, words.help), index().running ? h("span", { class: "running" }, words.live) : null),
    state.labelling ? labelBar() : null,
    h("p", { id: "trouble", class: "trouble", role: "alert" }));
}

function drawMain() {
  const main = document.getElementById("main");
  if (state.view === "overview") {
    main.className = "overview";
    main.tabIndex = 0; // it scrolls, so the keyboard must reach it
    refill(main, h("h2", {}, words.overview), drawing(index().plots[document.documentElement.lang]));
    return;
  }
  main.className = "clips";
  main.tabIndex = -1;
  main.replaceChildren(h("nav", { id: "list", "aria-label": words.clips, tabindex: "-1" }), h("div", { id: "left", class: "left" }), h("div", { id: "right", class: "right" }));
  drawList();
  drawClip();
}

function drawList() {
  const list = document.getElementById("list");
  if (!list) return;
  const shown = index().clips.map((clip, at) => ({ clip, at })).filter(({ clip }) => clipShown(clip));
  refill(list, h("p", { class: "count" }, `${shown.length} ${words.of} ${index().clips.length}`),
    shown.length ? h("ol", {}, shown.map(({ clip, at }) => h("li", {}, h("a", { href: "#" + address(at, null), "aria-current": at === state.clip ? "true" : null },
      h("span", { class: "clip-id", dir: "auto" }, say(clip.id)), h("span", { class: "glyphs" }, clip.runs.map((run) => glyph(run))))))) : h("p", { class: "nothing" }, words.none_left));
  const current = list.querySelector("[aria-current]");
  if (current) current.scrollIntoView({ block: "nearest" });
}

const GLYPHS = { match: "✓", correct_out_of_scope: "✓", misjudged: "✗", scope_error: "✗", none: "∅", reserved: "…", no_outcome: "–", excluded: "·", confirmed: "●", leading: "◐", open: "○", out_of_scope: "▢", failed: "!", asking: "…" };

function glyph(run) {
  const what = run ? run.verdict || run.outcome || "asking" : "no_outcome";
  const name = words.verdicts[what] || words.outcomes[what] || what;
  return h("span", { class: "glyph " + what, title: name, role: "img", "aria-label": name }, GLYPHS[what] || "?");
}

function drawClip() {
  const left = document.getElementById("left"), right = document.getElementById("right");
  if (!left || !state.doc) return;
  left.replaceChildren(videoPanel(index().clips[state.clip], state.doc), tablesPanel(state.doc));
  right.replaceChildren(turnsPanel(state.doc));
  choose(state.turn, { focus: false });
}

function address(at, turn) {
  const clip = index().clips[at];
  return `clip=${encodeURIComponent(clip.id)}` + (turn ? `&turn=${encodeURIComponent(`${turn.question_id}/${turn.party}`)}` : "");
}

async function openClip(at, turnKey) {
  if (!index().clips[at]) return;
  const token_ = (state.opening = {});
  const doc = await loadClip(at);
  if (state.opening !== token_) return; // another clip was asked for meanwhile
  state.clip = at;
  state.doc = doc;
  state.drawing = null;
  const found = turnKey ? doc.turns.findIndex((turn) => `${turn.question_id}/${turn.party}` === turnKey) : -1;
  state.turn = found >= 0 ? found : 0;
  drawList();
  drawClip();
  document.title = `${index().clips[at].id} · ${index().title}`;
}

async function reloadClip() {
  messagesAt = { clip: null, promise: null };
  const before = state.clip, name = index().clips[before].id;
  const fresh = await loadIndex();
  const at = fresh.clips.findIndex((clip) => clip.id === name); // clips that came meanwhile move the others
  const doc = await loadClip(at);
  if (state.clip !== before || doc.clip !== name) return; // gone on to another clip, or moved again: the next look shows it
  state.index = fresh;
  state.clip = at;
  state.doc = doc;
  // From here on nothing waits: what has the focus and what was typed is taken and put back in one go.
  const scroll = document.querySelector(".turns");
  const kept = { top: scroll ? scroll.scrollTop : 0, active: document.activeElement ? document.activeElement.getAttribute("aria-label") : null, forms: unsaved() };
  drawList();
  refill(document.getElementById("right"), turnsPanel(doc));
  choose(Math.min(state.turn, Math.max(0, doc.turns.length - 1)), { focus: false });
  putBack(kept.forms);
  const again = document.querySelector(".turns");
  if (again) again.scrollTop = kept.top;
  if (kept.active) [...document.querySelectorAll(".turns [aria-label]")].find((node) => node.getAttribute("aria-label") === kept.active)?.focus();
}

function choose(at, { focus = true } = {}) {
  const row = document.getElementById(`turn-${at}`);
  document.querySelectorAll("tr.turn.chosen").forEach((one) => { one.classList.remove("chosen"); one.removeAttribute("aria-current"); one.tabIndex = -1; });
  state.turn = at;
  if (row) {
    row.classList.add("chosen");
    row.setAttribute("aria-current", "true");
    row.tabIndex = 0;
    if (focus) { row.focus({ preventScroll: true }); row.scrollIntoView({ block: "nearest" }); }
  }
  drawSpans();
  if (focus && state.doc && state.doc.turns[at]) history.replaceState(null, "", "#" + address(state.clip, state.doc.turns[at]));
}

function step(by) {
  const rows = [...document.querySelectorAll("tr.turn")];
  if (!rows.length) return;
  const now = rows.findIndex((row) => Number(row.dataset.at) === state.turn);
  choose(Number(rows[Math.max(0, Math.min(rows.length - 1, now + by))].dataset.at));
}

function stepClip(by) {
  const shown = index().clips.map((clip, at) => at).filter((at) => clipShown(index().clips[at]));
  const now = shown.indexOf(state.clip);
  const next = shown[now < 0 ? 0 : Math.max(0, Math.min(shown.length - 1, now + by))];
  if (next !== undefined && next !== state.clip) location.hash = address(next, null);
}

function setFilter(name, value) {
  state.filters[name] = value;
  drawBar();
  if (state.view === "clips") { drawList(); drawClip(); }
}

function setView(view) { state.view = view; drawBar(); drawMain(); }

function setLabelling(on) {
  if (!index().labelling) return;
  state.labelling = on;
  drawBar();
  drawClip();
  if (on) document.getElementById("labeler").focus();
}

function setLanguage(language) {
  document.documentElement.lang = language;
  words = WORDS[language];
  drawBar();
  drawMain();
}

function showHelp() {
  const dialog = h("dialog", { "aria-label": words.help, onclose: () => dialog.remove() }, h("h2", {}, words.help), h("dl", {}, words.keys.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])),
    h("form", { method: "dialog" }, h("button", {}, "OK")));
  document.body.append(dialog);
  dialog.showModal();
}

const KEYS = {
  ArrowLeft: () => stepClip(-1), ArrowRight: () => stepClip(1), ArrowUp: () => step(-1), ArrowDown: () => step(1),
  "/": () => document.getElementById("search").focus(), "?": showHelp, o: () => setView(state.view === "overview" ? "clips" : "overview"),
  d: () => setFilter("differs", !state.filters.differs), w: () => setFilter("wrong", !state.filters.wrong), c: () => setFilter("contradictions", !state.filters.contradictions),
  l: () => setLabelling(!state.labelling), z: undo,
  " ": () => { if (player) player.paused ? player.play() : player.pause(); },
};

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (target.matches("input, select, textarea")) {
    if (event.key === "Escape" || (event.key === "Enter" && target.id === "search")) { target.blur(); document.getElementById("main").focus(); }
    return;
  }
  if (event.key === " " && target.matches("button, summary, a, video")) return;
  if (target.matches("video") && event.key.startsWith("Arrow")) return;
  const action = KEYS[event.key] || (/^[1-9]$/.test(event.key) ? () => jumpTo(Number(event.key) - 1) : null);
  if (!action) return;
  event.preventDefault();
  action();
});

function jumpTo(run) {
  const turn = state.doc && state.doc.turns[state.turn];
  const cell = turn && turn.cells[run];
  if (cell && cell.answer) seek(cell.answer.evidence_start);
}

function fromAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const name = wanted.get("clip");
  const at = name === null ? 0 : index().clips.findIndex((clip) => normal(clip.id) === normal(name));
  if (state.view !== "clips") setView("clips");
  return openClip(Math.max(0, at), wanted.get("turn"));
}

async function follow() {
  let heads = index().heads;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const now = await ask("api/heads").catch(() => null);
    if (!now || now.heads === heads) continue;
    heads = now.heads;
    if (document.activeElement && document.activeElement.matches(".label-form input, .label-form select")) { heads = null; continue; } // not under somebody's hands
    if (state.view === "clips" && state.doc) await reloadClip();
    else { state.index = await loadIndex(); drawMain(); if (state.view === "clips") await fromAddress(); }
    if (index().running !== !!document.querySelector(".running")) drawBar();
    document.body.dataset.updates = String(Number(document.body.dataset.updates || 0) + 1);
  }
}

(async () => {
  state.index = await loadIndex();
  drawBar();
  drawMain();
  window.addEventListener("hashchange", fromAddress);
  await fromAddress();
  document.body.dataset.ready = "true";
  if (served) follow();
})().catch((error) => { document.getElementById("main").textContent = String(error); });
