// Audits a GraphQL server with the npm package graphql-http, and prints the results as JSON.
//
//     NODE_PATH=folder-of-packages node graphql_http_audits.cjs http://127.0.0.1:8000/graphql

const { auditServer } = require("graphql-http");

auditServer({ url: process.argv[2] }).then((results) => {
  const found = results.map(({ id, name, status, reason }) => ({ id, name, status, reason }));
  process.stdout.write(JSON.stringify(found));
});
