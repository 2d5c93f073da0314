// Runs the sample of docs/javascript.md against a server that speaks what a host would.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const [page, modulePath, folder] = process.argv.slice(2);
const module = await import(pathToFileURL(modulePath));
const [, sample] = readFileSync(page, "utf-8").match(/^```js\n(import [^]*?)^```$/m);
const file = `${folder}/sample.mjs`;
writeFileSync(file, sample.replace('"./doneness.mjs"', JSON.stringify(pathToFileURL(modulePath).href)));

const server = createServer((_request, response) => {
  const producer = new module.Producer("run-1");
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [kind, data] of [
    ["text.delta", { text: "合" }],
    ["run.ended", { outcome: "succeeded", final_text: "" }],
    ["app.checked", { digest: module.sha256(""), ok: true }],
  ]) response.write(`data: ${JSON.stringify(producer.emit(kind, data))}\n\n`);
  response.end();
}).listen(0, "127.0.0.1");
await new Promise((resolve) => server.once("listening", resolve));

const inner = globalThis.fetch;
globalThis.fetch = (path) => inner(`http://127.0.0.1:${server.address().port}${path}`);
globalThis.show = (status, message) => console.log(status, message);
await import(pathToFileURL(file));
server.close();
