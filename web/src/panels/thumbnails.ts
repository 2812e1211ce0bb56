/** Small pictures of items, where the rows of the table are images. */

import type { App } from "../app";
import { make } from "../parts/build";
import { itemName } from "../parts/words";
import { chooseItem } from "./parts";

const places = new WeakMap<object, Map<number, number>>();

/** Which image is of which item. */
function imageOf(app: App, item: number): number | undefined {
  let map = places.get(app.data);
  if (!map) {
    map = new Map();
    if (app.data.has("images.item")) app.data.ints("images.item").forEach((one, i) => map?.set(one, i));
    places.set(app.data, map);
  }
  return map.get(item);
}

const addresses = new WeakMap<object, Map<number, string>>();

/** The picture of an item as the address of an image, or null where there is none. */
export function pictureAddress(app: App, item: number): string | null {
  let known = addresses.get(app.data);
  if (!known) addresses.set(app.data, (known = new Map()));
  const found = known.get(item);
  if (found) return found;
  const address = thumbnail(app, item)?.toDataURL() ?? null;
  if (address) known.set(item, address);
  return address;
}

export function hasPicture(app: App, item: number): boolean {
  return imageOf(app, item) !== undefined;
}

export function thumbnail(app: App, item: number): HTMLCanvasElement | null {
  const shape = app.data.info.images;
  const image = imageOf(app, item);
  if (!shape || image === undefined) return null;
  const { height, width, channels } = shape;
  const pixels = app.data.ints("images.pixels");
  const start = image * height * width * channels;
  const rgba = new Uint8ClampedArray(4 * height * width);
  for (let p = 0; p < height * width; p++) {
    for (let c = 0; c < 3; c++) rgba[4 * p + c] = pixels[start + p * channels + Math.min(c, channels - 1)];
    rgba[4 * p + 3] = 255;
  }
  const canvas = make("canvas", { role: "img", "aria-label": `Picture of ${itemName(app, item)}`, class: "thumbnail" });
  canvas.width = width;
  canvas.height = height;
  canvas.getContext("2d")?.putImageData(new ImageData(rgba, width, height), 0, 0);
  return canvas;
}

/** Pictures of those items that have one, as buttons; null where none has. */
export function gallery(app: App, items: number[], most: number): HTMLElement | null {
  const shown = items.filter((item) => imageOf(app, item) !== undefined).slice(0, most);
  if (!shown.length) return null;
  const buttons = shown.map((item) => {
    const one = make("button", { type: "button", class: "picture", "aria-label": `Open ${itemName(app, item)}` });
    const picture = thumbnail(app, item);
    if (picture) {
      picture.setAttribute("aria-hidden", "true");
      one.append(picture);
    }
    one.addEventListener("click", () => chooseItem(app, item));
    return one;
  });
  return make("div", { class: "gallery" }, ...buttons);
}
