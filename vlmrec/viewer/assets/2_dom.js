// Building the page: every text from outside goes in as a text node, never as markup.
const SVG = "http://www.w3.org/2000/svg";
const FOLD_AT = 600;
const LONG = 20000; // from here on a text is laid out in blocks, and only those in view: a browser takes minutes for one block

function h(tag, attributes, ...children) {
  const svg = ["svg", "rect", "text", "line", "g", "path", "circle", "title"].includes(tag) && tag !== "title";
  const node = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(node.style, value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  return fill(node, children);
}

function fill(node, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

const refill = (node, ...children) => (node.replaceChildren(), fill(node, ...children));

// Characters that would be invisible, drive a terminal or reorder a line are spelled out.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udfff]/g;

function say(text) {
  const fragment = document.createDocumentFragment();
  let from = 0;
  const source = String(text);
  for (const found of source.matchAll(HIDDEN)) {
    if (found.index > from) fragment.append(source.slice(from, found.index));
    const code = found[0].codePointAt(0).toString(16).padStart(4, "0");
    fragment.append(h("span", { class: "spelled", title: "U+" + code.toUpperCase() }, "\\u" + code));
    from = found.index + found[0].length;
  }
  if (from < source.length) fragment.append(source.slice(from));
  return fragment;
}

// A text of any length: folded beyond FOLD_AT characters, and isolated so that its direction stays its own.
function prose(text, attributes) {
  const source = String(text);
  const node = h("span", { ...attributes, class: "prose " + ((attributes || {}).class || ""), dir: "auto" });
  if (source.length <= FOLD_AT) return node.append(say(source)), node;
  let open = false;
  const body = h("span");
  const button = h("button", { type: "button", class: "quiet", "aria-expanded": "false", onclick: () => show(!open) });
  function show(state) {
    open = state;
    refill(body, !open ? say(source.slice(0, FOLD_AT) + "…") : source.length <= LONG ? say(source) : longText(source));
    button.setAttribute("aria-expanded", String(open));
    button.textContent = open ? words.less : `${words.more} (${source.length.toLocaleString()} ${words.chars})`;
  }
  show(false);
  node.append(body, " ", button);
  return node;
}

function longText(source) {
  const box = h("div", { class: "long", tabindex: "0" });
  for (let from = 0; from < source.length; ) {
    let to = Math.min(source.length, from + 4000);
    const blank = source.slice(to, to + 400).search(/\s/);
    if (to < source.length) to += blank >= 0 ? blank + 1 : /[\ud800-\udbff]/.test(source[to - 1]) ? 1 : 0;
    box.append(h("div", { class: "block" }, say(source.slice(from, to))));
    from = to;
  }
  return box;
}

function seconds(value) {
  return value === null || value === undefined ? "–" : `${Number(value).toFixed(2).replace(/0$/, "")} s`;
}

function money(value) {
  return value === null || value === undefined ? "–" : `$${Number(value).toFixed(4)}`;
}

function announce(text) {
  document.getElementById("live").textContent = text;
}
