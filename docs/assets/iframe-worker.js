// Browsers start no workers from file: pages. There the search runs in a hidden frame instead, so that it works in a
// downloaded copy of the site. The theme looks for the name `IFrameWorker`.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) =>
        urls.reduce((before, each) => before.then(() => this.load(each)), Promise.resolve());
      this.load(url).then(() => {
        this.loaded = true;
        this.waiting.forEach((data) => this.postMessage(data));
      });
    }

    load(url) {
      return new Promise((resolve) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = url;
        script.onload = resolve;
        this.frame.contentDocument.head.append(script);
      });
    }

    postMessage(data) {
      if (this.loaded) {
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      } else {
        this.waiting.push(data);
      }
    }

    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
