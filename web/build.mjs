/** Bundles the sources into the one module that the package ships, with the licences of what is bundled. */

import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "../src/bhmc/_explorer/static");

const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: ["src/main.ts"],
  outfile: join(target, "explorer.js"),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});

// Only packages whose code is in the bundle need their licence in the wheel.
const packages = new Set();
for (const file of Object.keys(metafile.inputs)) {
  const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file);
  if (found) packages.add(found[1]);
}

const licences = [...packages].sort().map((name) => {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
});
const head = "explorer.js holds code of these packages, each under its own licence.\n\n";
writeFileSync(join(target, "LICENSES.txt"), head + licences.join(`\n${"-".repeat(80)}\n\n`));
