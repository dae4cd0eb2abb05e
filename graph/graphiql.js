// Mounts GraphiQL on the page that graph/graphiql.py builds. The page's policy allows no inline script, so what
// differs from one deployment to another comes in the data attributes of the element it is mounted on.

const root = document.getElementById("graphiql");

ReactDOM.createRoot(root).render(
  React.createElement(GraphiQL, {
    fetcher: GraphiQL.createFetcher({ url: root.dataset.url }),
    plugins: [GraphiQLPluginExplorer.explorerPlugin()],
    defaultTabs: JSON.parse(root.dataset.examples),
    defaultEditorToolsVisibility: "variables",
    // Headers carry credentials, and what is persisted outlives the session.
    shouldPersistHeaders: false,
  }),
);
