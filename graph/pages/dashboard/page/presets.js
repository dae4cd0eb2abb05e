// The presets that people know from other pages of earthquakes: links to a period and to a least size. Each replaces what
// the address says of its group, and keeps the rest.

const USUAL = { period: "week" };

/**
 * @param {HTMLElement} place  lists of links; a list's `data-names` are the parameters that its links replace
 * @returns {{readdress: () => void}}
 */
export function presets(place) {
  const links = [...place.querySelectorAll("a")].map((link) => ({
    link,
    names: link.closest("ul").dataset.names.split(" "),
    values: new URLSearchParams(link.getAttribute("href")),
  }));
  return {
    /** Follows the address: what each link leads to, and which of them it is. */
    readdress() {
      const address = new URLSearchParams(location.search);
      for (const { link, names, values } of links) {
        link.href = leadingTo(address, names, values);
        if (names.every((name) => said(address, name) === said(values, name))) {
          link.setAttribute("aria-current", "true");
        } else {
          link.removeAttribute("aria-current");
        }
      }
    },
  };
}

function leadingTo(address, names, values) {
  const parameters = new URLSearchParams(address);
  ["after", "before", ...names].forEach((name) => parameters.delete(name));
  values.forEach((value, name) => parameters.set(name, value));
  return `?${parameters}`;
}

/** What an address says of a filter, or what is usual. A time of its own leaves no period. */
function said(address, name) {
  const hasTime = address.get("from") || address.get("to");
  return name === "period" && hasTime ? "all" : address.get(name) || (USUAL[name] ?? "");
}
