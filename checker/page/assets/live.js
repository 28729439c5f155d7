// The explorer's side of the page: it asks who served it. What was answered is kept.

class Live {
  constructor(token) {
    this.token = token;
    this.kept = new Map();
    this.watched = [];
    this.safe = new Set(JSON.parse(sessionStorage.getItem("written") || "[]"));
    this.brought = null;
  }

  // Expressions run as Python in the explorer. Those written on this page may, and names of
  // properties; those that an address brings may be anybody's, and wait for a person to agree.
  wrote(...texts) {
    texts.forEach((text) => this.safe.add(text));
    sessionStorage.setItem("written", JSON.stringify([...this.safe]));
  }

  // What of an address may be evaluated; the rest is kept as what it brought.
  sift(asked) {
    const watch = asked.getAll("watch").filter(Boolean);
    const by = asked.get("by") || "";
    const known = (text) => !text || this.safe.has(text) || data.properties.includes(text);
    const strange = [...new Set([...watch, by].filter((text) => !known(text)))];
    this.brought = strange.length ? { strange, watch, by } : null;
    return { watch: watch.filter(known), by: known(by) ? by : "" };
  }

  async ask(question, body) {
    const key = question + JSON.stringify(body);
    if (this.kept.has(key)) return this.kept.get(key);
    let answer;
    try {
      const reply = await fetch("/api/" + question, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Statewalk-Token": this.token },
        body: JSON.stringify(body),
      });
      answer = await reply.json();
    } catch {
      answer = { error: "Nobody answers: has statewalk explore been ended?" };
    }
    if (answer.error) throw new Error(answer.error);
    if (question === "path" || question === "next") this.kept.set(key, answer);
    if (this.kept.size > 2000) this.kept.clear();
    return answer;
  }

  // ``prints`` are the fingerprints of the states that a link leads through.
  async path(path, prints) {
    return { ...(await this.ask("path", prints && prints.length ? { path, prints } : { path })), live: true, why: [] };
  }
}

// A path in the address: "0-3-5.0.1" is initial state 0, action 3, action 5 with choices 0 and 1.
function pathText([initial, steps]) {
  return [initial, ...steps.map((step) => step.join("."))].join("-");
}

function textPath(text) {
  const [initial, ...steps] = text.split("-");
  if (!/^\d+(-\d+(\.\d+)*)*$/.test(text)) return null;
  return [Number(initial), steps.map((step) => step.split(".").map(Number))];
}

const printsOf = (asked) => (asked.get("states") || "").split(".").filter((one) => /^[0-9a-f]{1,32}$/.test(one));

const prefix = ([initial, steps], length) => [initial, steps.slice(0, length)];

// The token comes in the address once; then the address is for others to see.
function takeToken() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const token = asked.get("token");
  if (token) {
    sessionStorage.setItem("token", token);
    asked.delete("token");
    history.replaceState(null, "", "#" + asked);
  }
  return token || sessionStorage.getItem("token") || "";
}
