// Has the npm package graphql-http audit a server of GraphQL over HTTP, and prints what it found as JSON.
//
//     NODE_PATH=folder-of-packages node graphql_http_audits.cjs http://127.0.0.1:8000/graphql

const { auditServer } = require("graphql-http");

auditServer({ url: process.argv[2] }).then((results) => {
  const found = results.map(({ id, name, status, reason }) => ({ id, name, status, reason }));
  process.stdout.write(JSON.stringify(found));
});
