// The presets that people know from other pages of earthquakes: links to a period before the newest event, and to a least
// size. Each keeps what else the address says.

const PERIODS = [
  ["Past hour", { period: "hour" }],
  ["Day", { period: "day" }],
  ["Week", { period: "week" }],
  ["Month", { period: "month" }],
];
const SIZES = [
  ["Significant", { significant: "1" }],
  ["M 4.5+", { minMagnitude: "4.5" }],
  ["M 2.5+", { minMagnitude: "2.5" }],
  ["All", {}],
];
const TIMES = ["period", "from", "to"];
const MAGNITUDES = ["significant", "minMagnitude", "maxMagnitude"];
const USUAL = "week";

/**
 * @param {HTMLElement} place
 * @returns {{readdress: () => void}}
 */
export function presets(place) {
  const links = [
    ...group(place, "Period", PERIODS, TIMES),
    ...group(place, "Magnitude", SIZES, MAGNITUDES),
  ];
  return {
    /** Follows the address: what each link leads to, and which of them it is. */
    readdress() {
      const address = new URLSearchParams(location.search);
      for (const { link, names, values } of links) {
        link.href = leadingTo(address, names, values);
        if (names.every((name) => said(address, name) === (values[name] ?? ""))) {
          link.setAttribute("aria-current", "true");
        } else {
          link.removeAttribute("aria-current");
        }
      }
    },
  };
}

function group(place, title, choices, names) {
  const list = document.createElement("ul");
  list.ariaLabel = title;
  const links = choices.map(([text, values]) => {
    const link = document.createElement("a");
    link.textContent = text;
    const item = document.createElement("li");
    item.append(link);
    list.append(item);
    return { link, names, values };
  });
  place.append(list);
  return links;
}

function leadingTo(address, names, values) {
  const parameters = new URLSearchParams(address);
  ["after", "before", ...names].forEach((name) => parameters.delete(name));
  Object.entries(values).forEach(([name, value]) => value !== USUAL && parameters.set(name, value));
  return `?${parameters}`;
}

/** What an address says of a filter; a period is the usual one, unless there is a time or another period. */
function said(address, name) {
  const isUsual = name === "period" && !address.get("from") && !address.get("to");
  return address.get(name) || (isUsual ? USUAL : "");
}
