// A Worker for pages that are opened from their files: browsers start no real one there, and the search wants one.
// The script of the worker runs in a hidden frame, which has the three functions of a worker that the search uses.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.appendChild(this.frame);
      const inside = this.frame.contentWindow;
      const loaded = (source) =>
        new Promise((resolve) => {
          const script = inside.document.createElement("script");
          script.src = source;
          script.onload = resolve;
          inside.document.body.appendChild(script);
        });
      inside.document.open();
      inside.document.write("<html><body></body></html>");
      inside.document.close();
      inside.postMessage = (data) => this.answer(data);
      inside.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => loaded(source)), Promise.resolve());
      this.ready = loaded(`${url}`);
    }

    answer(data) {
      const event = new MessageEvent("message", { data: structuredClone(data) });
      this.dispatchEvent(event);
      this.onmessage?.(event);
    }

    postMessage(data) {
      this.ready.then(() => {
        const inside = this.frame.contentWindow;
        inside.dispatchEvent(new inside.MessageEvent("message", { data: structuredClone(data) }));
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
}
