// What graphql-eslint asks of a schema: `schema-all` and `relay`, but for the exceptions below, each with its reason.

import graphql from "@graphql-eslint/eslint-plugin";

const { rules: all } = graphql.configs["flat/schema-all"];
const { rules: relay } = graphql.configs["flat/schema-relay"];
const OBJECTS = "ObjectTypeDefinition,ObjectTypeExtension";
const [, names] = all["@graphql-eslint/naming-convention"];
const { [OBJECTS]: nameOfObject, ...others } = names;

const exceptions = {
  alphabetize: "off", // Fields stand in the order in which a reader wants them, the id first.
  "naming-convention": ["error", { ...others, "ObjectTypeDefinition[name.value!=TriggerEventType]": nameOfObject }], // It is a type of events.
  "no-root-type": "off", // It forbids mutations and subscriptions; the graph has both.
  "no-typename-prefix": "off", // The own id of an `Event` is its `eventId`, and documented attributes keep their names.
  "relay-edge-types": [
    "error",
    {
      withEdgeSuffix: true,
      shouldImplementNode: false, // An area or a candidate has no id: it is a part of what leads to it.
      listTypeCanWrapOnlyEdgeType: false, // Connections have `nodes`, too, and short lists are no connections.
    },
  ],
  "require-description": [
    "error",
    { types: true, DirectiveDefinition: true, rootField: true, ignoredSelectors: ["DirectiveDefinition[name.value=oneOf]"] }, // The specification describes it.
  ],
  "require-field-of-type-query-in-mutation-result": "off", // A payload has the nodes that were changed; caches need no more.
  "strict-id-in-types": "off", // Objects that are parts of another one have no id, so caches keep them within that one.
};

export default [
  {
    files: ["schema.graphql"],
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema: "schema.graphql" } } },
    plugins: { "@graphql-eslint": graphql },
    rules: {
      ...all,
      ...relay,
      ...Object.fromEntries(Object.entries(exceptions).map(([name, rule]) => [`@graphql-eslint/${name}`, rule])),
    },
  },
];
