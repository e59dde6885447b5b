// Writes the types of the REST layers' requests and answers, from the OpenAPI files, into schema/.
import { mkdirSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const here = new URL("./", import.meta.url);
mkdirSync(new URL("schema/", here), { recursive: true });
for (const layer of ["public", "speech", "vision"]) {
  const types = await openapiTS(new URL(`../../../docs/openapi/${layer}.json`, here), { defaultNonNullable: false });
  writeFileSync(new URL(`schema/${layer}.d.ts`, here), astToString(types));
}
