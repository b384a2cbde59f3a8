// SPDX-License-Identifier: Apache-2.0
// read.mjs - objects of Kubernetes from standard input (YAML), judged by the schemas of its API; prints them as JSON.
// Exit status: 0 all hold, 1 some do not: each is named with what is wrong.
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

let faults = 0;
const objects = parseAllDocuments(readFileSync(0, 'utf8')).map((d) => {
  if (d.errors.length) throw d.errors[0];
  return d.toJS();
});
for (const object of objects) {
  const [group, version] = object.apiVersion.includes('/') ? object.apiVersion.split('/') : ['', object.apiVersion];
  const name = `${object.kind} ${object.metadata?.name}`;
  let model;
  try {
    const folder = group ? `${group}/${version}` : version;
    model = (await import(`kubernetes-models/${folder}/${object.kind}`))[object.kind];
  } catch {
    console.error(`${name}: there is no ${object.kind} in ${object.apiVersion}`);
    faults++;
    continue;
  }
  try {
    new model(object).validate();
  } catch (e) {
    console.error(`${name}: ${e.message}`);
    faults++;
  }
}
console.log(JSON.stringify(objects));
process.exit(faults ? 1 : 0);
