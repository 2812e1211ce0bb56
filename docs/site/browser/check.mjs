// Open every page of the site in a browser, at the width of a desk and of a phone, light and dark.
//
//     node check.mjs SITE OUTPUT [page ...]
//
// A page fails if axe finds a serious fault, if it is wider than the window, if it asks another host
// for anything or if a script fails. Screenshots go to OUTPUT. CHROMIUM names the browser's program.

import { existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf-8");
const VIEWS = [
  { name: "desk", width: 1280, height: 900, colorScheme: "light" },
  { name: "phone", width: 390, height: 844, colorScheme: "light" },
  { name: "dark", width: 1280, height: 900, colorScheme: "dark" },
];
const SERIOUS = new Set(["serious", "critical"]);

function pagesBelow(folder) {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".html") && !name.startsWith("_"))
    .sort();
}

function browserProgram() {
  const names = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const found = names.find((name) => name && existsSync(name));
  if (!found) throw new Error("no Chromium was found: install it, or set CHROMIUM to its program.");
  return found;
}

async function faultsOf(page, url, errors) {
  await page.goto(url, { waitUntil: "load" });
  const faults = errors.splice(0);
  const [wide, inner] = await page.evaluate(() => [
    document.scrollingElement.scrollWidth,
    window.innerWidth,
  ]);
  if (wide > inner) faults.push(`is ${wide} pixels wide in a window of ${inner}`);
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  for (const fault of violations.filter((one) => SERIOUS.has(one.impact))) {
    faults.push(`${fault.id} (${fault.impact}), ${fault.nodes.length} times, first ${fault.nodes[0].html.slice(0, 160)}`);
  }
  const mild = violations.filter((one) => !SERIOUS.has(one.impact)).map((one) => one.id);
  return { faults, mild };
}

const [site, output, ...chosen] = process.argv.slice(2);
const pages = chosen.length ? chosen : pagesBelow(site);
const browser = await chromium.launch({ executablePath: browserProgram(), args: ["--no-sandbox"] });
let failed = 0;
const mildSeen = {};
for (const view of VIEWS) {
  const context = await browser.newContext({
    viewport: { width: view.width, height: view.height },
    colorScheme: view.colorScheme,
  });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(`script: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) errors.push(`asks for ${request.url()}`);
  });
  mkdirSync(join(output, view.name), { recursive: true });
  for (const name of pages) {
    const { faults, mild } = await faultsOf(page, pathToFileURL(resolve(site, name)).href, errors);
    for (const fault of faults) console.log(`${view.name} ${name}: ${fault}`);
    for (const id of mild) mildSeen[id] = (mildSeen[id] ?? 0) + 1;
    failed += faults.length;
    const file = relative(".", name).replaceAll("/", "-").replace(".html", ".png");
    await page.screenshot({ path: join(output, view.name, file), fullPage: true });
  }
  await context.close();
}
await browser.close();
if (Object.keys(mildSeen).length) console.log("Lesser faults, pages with each:", mildSeen);
console.log(`${pages.length} pages in ${VIEWS.length} views: ${failed} faults.`);
process.exit(failed ? 1 : 0);
