// Does to a program what babel-plugin-relay does in a build: each `graphql` becomes the import of what the compiler has made.
// Node resolves no import without a suffix, as bundlers do.
//
//     node relay.cjs src/program.js build/program.js

const { readFileSync, writeFileSync } = require("node:fs");
const { transformSync } = require("@babel/core");

const [source, target] = process.argv.slice(2);
const { code } = transformSync(readFileSync(source, "utf8"), {
  filename: source,
  plugins: [["relay", { eagerEsModules: true }]],
});
writeFileSync(target, code.replaceAll(/(\/__generated__\/\w+\.graphql)"/g, '$1.js"'));
