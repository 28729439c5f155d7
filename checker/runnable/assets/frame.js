// Between the page and its worker: the frame is sandboxed, so that the worker is nobody's.
let worker = null;
addEventListener("message", ({ data }) => {
  if (worker) worker.postMessage(data);
  else {
    worker = new Worker(URL.createObjectURL(new Blob([data], { type: "text/javascript" })));
    worker.onmessage = (said) => parent.postMessage(said.data, "*");
    worker.onerror = (error) => parent.postMessage({ kind: "failed", text: error.message }, "*");
  }
});
