/** The module that the package ships: a page mounts itself, a notebook calls `render`. */

import { goToAddress } from "./address";
import { fromBase64, unpack, type Container } from "./container";
import { mount as mountPage } from "./page";
import { connect, type Model } from "./widget";

/** Shows a container in an element; returns a function that takes it away. */
export function mount(element: HTMLElement, container: Container): () => void {
  return mountPage(element, container).remove;
}

async function render({ model, el }: { model: Model; el: HTMLElement }): Promise<() => void> {
  const host = document.createElement("div");
  el.append(host);
  const { app, remove } = mountPage(host, await unpack(model.get("data") as DataView<ArrayBuffer>));
  const disconnect = connect(app, model);
  // Words that stand in the notebook until the widget runs.
  document.getElementById(String(model.get("instead")))?.remove();
  return () => {
    disconnect();
    remove();
  };
}

export default { render };

async function mountItself(data: Element): Promise<void> {
  const host = document.getElementById("bhmc-explorer") ?? document.body.appendChild(document.createElement("div"));
  try {
    const container = await unpack(fromBase64(data.textContent ?? ""));
    // The base64 is no longer needed, and it is the largest text of the page.
    data.remove();
    host.style.setProperty("padding", "0");
    host.classList.add("whole-page");
    const { app } = mountPage(host, container);
    goToAddress(app, location.hash);
    addEventListener("hashchange", () => goToAddress(app, location.hash));
  } catch (error) {
    const words = document.createElement("p");
    words.textContent = `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
    host.prepend(words);
    throw error;
  }
}

const data = document.getElementById("bhmc-data");
if (data) void mountItself(data);
