// A page from the disk may start no worker, in which the theme searches. This one is a hidden frame.
if (location.protocol === "file:") {
  globalThis.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const { contentWindow: inside, contentDocument: page } = frame;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = page.createElement("script");
      script.src = address;
      this.ready = new Promise((done) => script.addEventListener("load", () => done(inside)));
      page.body.append(script);
    }

    async postMessage(data) {
      (await this.ready).dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
