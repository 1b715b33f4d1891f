// A page of an explanation in a frame; the size of its slider is shared with Python.

export default {
  render({ model, el }) {
    const frame = document.createElement("iframe");
    frame.srcdoc = model.get("page");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.style.cssText = "width:100%;height:900px;border:0;color-scheme:light dark";
    const receive = (event) => {
      const size = event.data?.eigsearch?.size;
      if (event.source !== frame.contentWindow || !Number.isInteger(size) || size === model.get("size")) return;
      model.set("size", size);
      model.save_changes();
    };
    const send = () => frame.contentWindow?.postMessage({ eigsearch: { size: model.get("size") } }, "*");
    addEventListener("message", receive);
    model.on("change:size", send);
    el.append(frame);
    return () => {
      removeEventListener("message", receive);
      model.off("change:size", send);
    };
  },
};
