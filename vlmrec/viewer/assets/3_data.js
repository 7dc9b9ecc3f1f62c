// Where the data is: inside the page (compressed, one piece a clip, unpacked when shown), or behind the local server.
const index = () => state.index;

async function unpack(id) {
  const holder = document.getElementById(id);
  if (!holder) return null;
  const bytes = Uint8Array.from(atob(holder.textContent), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const served = document.getElementById("served");
const token = served ? new URLSearchParams(location.search).get("token") || "" : null;

async function ask(path, body) {
  const headers = { "X-Vlmrec-Token": token };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const reply = await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store" });
  const document_ = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Error(document_.error || `${reply.status}`);
  return document_;
}

const loadIndex = () => (served ? ask("api/index") : unpack("index"));
const loadClip = (at) => (served ? ask(`api/clips/${at}`) : unpack(`clip-${at}`));
const loadMessages = (at) => (served ? ask(`api/clips/${at}/messages`) : unpack(`messages-${at}`));

const unpacked = new Map();

function videoSource(video) {
  if (served) return `${video.src}?token=${encodeURIComponent(token)}`;
  if (!video.inside) return video.src;
  if (!unpacked.has(video.inside)) {
    const bytes = Uint8Array.from(atob(document.getElementById(video.inside).textContent), (char) => char.charCodeAt(0));
    unpacked.set(video.inside, URL.createObjectURL(new Blob([bytes], { type: "video/mp4" })));
  }
  return unpacked.get(video.inside);
}
