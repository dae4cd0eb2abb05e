// Mounts GraphiQL on the page that graph/pages/graphiql/__init__.py builds. The page's policy allows no inline script, so what
// differs from one deployment to another comes in the data attributes of the element it is mounted on.

const root = document.getElementById("graphiql");
const headers = headersWithToken();

// `serve` prints an address whose fragment is a token, which the browser sends to nobody. It is taken out of the
// address bar, so that it is not copied along with the address, and lasts as long as the browser's tab.
function headersWithToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  const token = sessionStorage.getItem("token");
  return token ? { Authorization: `Bearer ${token}` } : {};
}

// What the headers editor of a new tab shows. Tabs that GraphiQL remembers have none, so the fetcher sends them anyway,
// unless the editor names others.
const shown = Object.keys(headers).length ? JSON.stringify(headers, null, 2) : undefined;

// GraphiQL remembers its tabs and what was sent, and with these the headers, whatever it is told of persisting headers.
// Headers carry credentials, and what is stored outlives the session.
const storage = {
  getItem: (name) => localStorage.getItem(name),
  setItem: (name, value) => localStorage.setItem(name, withoutHeaders(value)),
  removeItem: (name) => localStorage.removeItem(name),
  clear: () => localStorage.clear(),
  get length() {
    return localStorage.length;
  },
};

function withoutHeaders(text) {
  try {
    return JSON.stringify(JSON.parse(text), (name, value) => (name === "headers" ? null : value));
  } catch {
    return text; // a query, say, is no JSON
  }
}

const subscriptionUrl = new URL(root.dataset.url, location.href);
subscriptionUrl.protocol = subscriptionUrl.protocol.replace("http", "ws");

ReactDOM.createRoot(root).render(
  React.createElement(GraphiQL, {
    fetcher: GraphiQL.createFetcher({
      url: root.dataset.url,
      headers,
      subscriptionUrl: subscriptionUrl.href,
      wsConnectionParams: headers,
    }),
    plugins: [GraphiQLPluginExplorer.explorerPlugin()],
    defaultTabs: JSON.parse(root.dataset.examples),
    defaultHeaders: shown,
    defaultEditorToolsVisibility: "variables",
    shouldPersistHeaders: false,
    storage,
  }),
);
