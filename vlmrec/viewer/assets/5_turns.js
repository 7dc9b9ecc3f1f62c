// The table of turns: one row a question and party, one column a run.
function turnsPanel(doc) {
  const runs = index().runs;
  const head = h("tr", {}, h("th", { scope: "col" }, words.question), h("th", { scope: "col" }, words.labels),
    runs.map((run, at) => h("th", { scope: "col", class: "run" }, h("span", { class: "chip", style: { background: COLOURS[at % COLOURS.length] } }, String(at + 1)), " ", h("span", { dir: "auto" }, say(run.id)),
      h("small", { class: "condition" }, say(run.condition || "")), notesOf(run.notes))));
  const body = h("tbody", {});
  body.append(h("tr", { class: "outcome-row" }, h("th", { scope: "row" }, words.outcome), h("td", {}, goldCell(doc)), doc.outcomes.map((outcome, run) => h("td", {}, outcomeCell(outcome, doc, run)))));
  doc.turns.forEach((turn, at) => { if (turnShown(turn)) body.append(turnRow(turn, at)); });
  return h("section", { class: "turns", "aria-label": words.turns, tabindex: "0" }, h("table", { style: { minWidth: `${(state.labelling ? 480 : 360) + 230 * runs.length}px` } }, h("colgroup", {}, h("col", { class: "asked" }), h("col", { class: state.labelling ? "labelling" : "labelled" })), h("thead", {}, head), body));
}

function turnShown(turn) {
  const filters = state.filters;
  if (!turn.asked && !state.labelling) return false;
  if (filters.differs && !turn.differs) return false;
  if (filters.contradictions && !turn.contradiction) return false;
  if (filters.wrong && !turn.cells.some((cell) => cell && ["wrong", "missed", "invented"].includes(cell.verdict))) return false;
  return !filters.question || `${turn.question_id}/${turn.party}` === filters.question;
}

function turnRow(turn, at) {
  const row = h("tr", { class: "turn", tabindex: "-1", id: `turn-${at}`, "data-at": at, onclick: (event) => { if (!event.target.closest("button, summary, input, select, a")) choose(at); } });
  fill(row,
    h("th", { scope: "row" }, h("span", { class: "key" }, say(turn.question_id), " · ", words.parties[turn.party] || turn.party), h("div", { class: "question" }, prose(turn.text || "")),
      turn.options.length ? h("details", {}, h("summary", {}, `${words.options} (${turn.options.length})`), h("ul", { class: "options" }, turn.options.map((option) => h("li", {}, h("code", {}, say(option.code)), " ", say(option.label))))) : null),
    h("td", { class: "labels" }, turn.labels.length ? turn.labels.map((label) => labelLine(label, turn)) : h("span", { class: "nothing" }, "–"), state.labelling ? labelForm(turn) : null),
    turn.cells.map((cell, run) => h("td", { class: cell ? "cell " + (cell.verdict || "") : "cell absent" }, cell ? turnCell(cell, turn, run) : words.no_turn)),
  );
  return row;
}

function answerName(answer, turn) {
  if (answer.status !== "observed") return words.statuses[answer.status] || answer.status || words.no_answer;
  const option = (turn.options || []).find((one) => one.code === answer.value);
  return option ? option.label : answer.value;
}

function answerBadge(answer, turn) {
  const abstains = answer.status !== "observed";
  return h("span", { class: "answer" + (abstains ? " abstains" : "") }, say(answerName(answer, turn)), abstains ? null : h("code", {}, say(answer.value)));
}

function labelLine(label, turn) {
  return h("div", { class: "label" }, h("b", {}, say(label.labeler)), " ", answerBadge(label, turn), " ", evidence(label, label.labeler));
}

function evidence(answer, name) {
  const start = answer.evidence_start;
  if (start === null || start === undefined) return null;
  const text = `${seconds(start)} – ${seconds(answer.evidence_end ?? start)}`;
  return h("button", { type: "button", class: "jump", "aria-label": `${words.evidence} ${name} ${text}`, onclick: () => seek(start) }, "▸ ", text);
}

function turnCell(cell, asked, run) {
  const turn = cell.options ? { ...asked, options: cell.options } : asked; // this run was offered other words or another order
  const parts = [];
  if (cell.text) parts.push(h("div", { class: "question own" }, prose(cell.text)));
  const verdict = cell.verdict ? h("span", { class: `verdict ${cell.verdict}` }, words.verdicts[cell.verdict] || cell.verdict) : null;
  if (!cell.put) parts.push(h("div", {}, h("span", { class: "answer abstains" }, words.not_put), " ", verdict));
  else if (cell.answer) parts.push(h("div", {}, answerBadge(cell.answer, turn), " ", verdict, " ", evidence(cell.answer, index().runs[run].id)));
  else parts.push(h("div", {}, h("span", { class: "answer none" }, words.no_answer), " ", verdict));
  if (cell.answer && cell.answer.explanation) parts.push(h("div", { class: "why" }, prose(cell.answer.explanation)));
  if (cell.answer && cell.answer.demoted_from) parts.push(h("div", { class: "violation" }, "↯ ", say(cell.answer.demoted_from), " → ", words.statuses[cell.answer.status] || cell.answer.status, " (", say(cell.answer.demoted_by || ""), ")"));
  if (cell.violations.length) parts.push(violations(cell.violations));
  parts.push(notesOf(state.doc.notes[run].filter((note) => note.question_id === asked.question_id && (!note.party || note.party === asked.party))));
  const facts = [];
  if (cell.tally && Object.keys(cell.tally).length > 1) facts.push(`${words.votes}: ` + Object.entries(cell.tally).map(([what, n]) => `${what} ${n}`).join(", "));
  if (cell.answer && cell.answer.confidence !== null && cell.answer.confidence !== undefined) facts.push(`${words.confidence} ${cell.answer.confidence}`);
  const strictness = [...new Set(cell.samples.map((sample) => sample.strictness))];
  if (strictness.length) facts.push(strictness.join("/"));
  if (cell.calls) facts.push(`${seconds(cell.calls.latency_total_s)}`, money(cell.calls.cost_usd));
  if (facts.length) parts.push(h("div", { class: "facts" }, say(facts.join(" · "))));
  parts.push(narrowing(cell));
  if (cell.samples.length) parts.push(samplesPart(cell, turn));
  return parts;
}

function violations(list) {
  return h("ul", { class: "violations" }, list.map((one) => h("li", { class: "violation" }, h("b", {}, say(one.rule)), ` (${one.action}) `, prose(one.message),
    one.against ? h("span", {}, " ↔ ", say(`${one.against.question_id} · ${words.parties[one.against.party] || one.against.party}`)) : null)));
}

function narrowing(cell) {
  if (!cell.after) return null;
  const line = h("details", { class: "narrowing" }, h("summary", {}, `${words.before_after} ${cell.before ? cell.before.length : "…"} → ${cell.after.length}`,
    cell.eliminated.length ? ` · ${words.eliminated} ${cell.eliminated.length}` : ""));
  line.append(h("p", {}, say(cell.after.join(", ") || "∅")));
  if (cell.eliminated.length) line.append(h("ul", {}, cell.eliminated.map((gone) => h("li", { class: "gone" }, say(`${gone.chart}${gone.variant ? " " + gone.variant : ""} (${gone.self_is})`)))));
  return line;
}

function samplesPart(cell, turn) {
  const holder = h("div", { class: "deep" });
  const part = h("details", { class: "samples", ontoggle: async () => {
    if (!part.open || holder.childNodes.length) return;
    holder.append(words.loading);
    const messages = await messagesOf(state.clip).catch(() => null);
    refill(holder, cell.samples.map((sample) => sampleView(sample, cell, turn, messages)));
  } }, h("summary", {}, `${words.messages} (${cell.samples.length})`), holder);
  return part;
}

function sampleView(sample, cell, turn, messages) {
  const call = messages && messages.calls[sample.call];
  const text = (sha) => (messages && sha && messages.blobs[sha] !== undefined ? messages.blobs[sha] : null);
  const block = (title, body) => (body === null ? null : h("details", {}, h("summary", {}, title), h("pre", { tabindex: "0" }, prose(body))));
  return h("article", { class: "sample" },
    h("h4", {}, `${words.sample} ${sample.sample + 1}: `, sample.outcome === "answer" ? answerBadge(sample, turn) : h("span", { class: "answer none" }, say(`${words.no_answer}: ${sample.reason || ""}`))),
    sample.recovered.length ? h("p", { class: "facts" }, say(sample.recovered.join(", "))) : null,
    sample.explanation ? h("p", {}, prose(sample.explanation)) : null,
    block(words.reasoning, sample.reasoning ? text(sample.reasoning.sha256) : null),
    call ? [block(words.request, text(call.request)), block(words.reply, text(call.reply))] : h("p", { class: "nothing" }, words.unavailable));
}

let messagesAt = { clip: null, promise: null };
function messagesOf(clip) {
  if (messagesAt.clip !== clip) messagesAt = { clip, promise: loadMessages(clip).then((found) => found || { calls: {}, blobs: {} }) };
  return messagesAt.promise;
}

function goldCell(doc) {
  const lines = doc.gold.map((label) => h("div", {}, h("b", {}, say(label.labeler)), " ", h("code", {}, say(label.leaf || words.missing_leaf)), label.exclude ? ` (${label.exclude})` : ""));
  return [h("span", { class: "key" }, words.gold), ...lines, state.labelling ? leafForm(doc) : null];
}

// Remarks made after the fact; what is not to be counted says so, with the reason.
function notesOf(notes) {
  if (!notes.length) return null;
  return h("ul", { class: "notes" }, notes.map((note) => h("li", {}, note.exclude ? h("b", {}, words.verdicts.excluded, ": ") : "✎ ", prose(note.text))));
}

function outcomeCell(outcome, doc, run) {
  const brief = index().clips[state.clip].runs[run];
  if (!outcome) return h("span", { class: "nothing" }, brief ? "…" : words.no_turn);
  const charts = [...new Set(outcome.candidates.map((one) => one.chart))];
  return [
    h("div", {}, h("span", { class: "answer outcome-" + outcome.outcome }, words.outcomes[outcome.outcome] || outcome.outcome), " ",
      brief && brief.verdict ? h("span", { class: `verdict ${brief.verdict}` }, words.verdicts[brief.verdict] || brief.verdict) : null, outcome.incomplete ? " (incomplete)" : ""),
    charts.length ? h("div", {}, say(charts.join(", "))) : null,
    outcome.candidates.length === 1 ? h("div", { class: "facts" }, `${words.fault} ${outcome.candidates[0].fault_self}%`) : null,
    outcome.reason ? h("div", { class: "why" }, prose(outcome.reason)) : null,
    notesOf(doc.notes[run].filter((note) => !note.question_id)),
  ];
}
