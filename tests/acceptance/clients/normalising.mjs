// Writes answers into Apollo's cache, and prints each value by which one overwrites that of another, for the same object.
//
//     node normalising.mjs answers.json possible_types.json
//
// It prints {objects: how many of each type, overwritten: [object, field, before, after, document]}.

import { readFileSync } from "node:fs";
import { defaultDataIdFromObject, gql, InMemoryCache } from "@apollo/client";

const [answers, possibleTypes] = process.argv.slice(2).map((name) => JSON.parse(readFileSync(name, "utf8")));
const known = new Map(); // the name of an object → its values so far
const overwritten = [];
let asked;

const isLeaf = (value) => (Array.isArray(value) ? value.every(isLeaf) : value === null || typeof value !== "object");

/** Names an object as Apollo does, and compares its values with those that the cache has of it. */
function dataIdFromObject(object, context) {
  const id = defaultDataIdFromObject(object, context);
  if (id) {
    const values = known.get(id) ?? {};
    for (const [field, value] of Object.entries(context.storeObject)) {
      if (isLeaf(value)) {
        const [before, after] = [values[field], JSON.stringify(value)];
        if (before !== undefined && before !== after) {
          overwritten.push([id, field, before, after, asked]);
        }
        values[field] = after;
      }
    }
    known.set(id, values);
  }
  return id;
}

const cache = new InMemoryCache({ dataIdFromObject, possibleTypes });
for (const { document, data } of answers) {
  asked = document;
  cache.writeQuery({ query: gql(document), data });
}
const objects = {};
for (const id of Object.keys(cache.extract()).filter((each) => known.has(each))) {
  const [type] = id.split(":");
  objects[type] = (objects[type] ?? 0) + 1;
}
console.log(JSON.stringify({ objects, overwritten }));
