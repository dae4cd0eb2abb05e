// The list: one page of the connection `events`. What is on the page is kept as edges, so that the links to the pages
// around it are right also when arrivals have pushed events out.

import { count, counted, depth, magnitude, minute, place, relative, time } from "./format.js";
import { element } from "./html.js";

/** Events on a page. */
export const ROWS = 25;

const STRONG = 6; // from this magnitude on, an event stands out
const AGING_MS = 30_000; // after which "4 min. ago" is written anew
const DAY_MS = 24 * 3600 * 1000;

/** How events are sorted, by the value of the control: the graph's order, and what it compares. */
export const ORDERS = {
  newest: { orderBy: "TIME_DESC", compare: (one, other) => other.eventTsMs - one.eventTsMs },
  oldest: { orderBy: "TIME_ASC" },
  largest: { orderBy: "MAGNITUDE_DESC" },
  smallest: { orderBy: "MAGNITUDE_ASC" },
};

/**
 * @typedef {{cursor: string, node: import("./documents.js").QuakeEvent}} Edge
 *
 * @param {HTMLElement} section
 * @param {(eventId: string, anchor: DOMRect) => void} onSelect
 * @param {(page: {after?: string, before?: string}) => string} addressOf  of a page of the list
 */
export function eventList(section, onSelect, addressOf) {
  const list = section.querySelector("ol");
  let page = null; // the connection
  let isTurned = false; // whether it is a page other than that of the plain address
  let colouring = null;
  let selected = null;

  list.addEventListener("click", (click) => {
    const link = click.target.closest("a");
    const isPlain = !(click.button || click.ctrlKey || click.metaKey || click.shiftKey || click.altKey);
    if (link && isPlain) {
      click.preventDefault();
      onSelect(link.parentElement.dataset.eventId, link.getBoundingClientRect());
    }
  });
  list.addEventListener("keydown", (key) => {
    const item = key.target.closest("li");
    const next = { ArrowDown: item?.nextElementSibling, ArrowUp: item?.previousElementSibling }[key.key];
    if (next) {
      key.preventDefault();
      next.firstElementChild.focus();
    }
  });
  setInterval(() => list.querySelectorAll("time").forEach(age), AGING_MS);

  function draw() {
    const hadFocus = list.contains(document.activeElement) ? document.activeElement.parentElement.dataset.eventId : null;
    list.replaceChildren(...page.edges.map(({ node }) => item(node)));
    paint();
    tell();
    link();
    mark();
    if (hadFocus) {
      focus(hadFocus);
    }
  }

  /** Gives focus back, without scrolling: its user may read elsewhere. If its event is gone, the last one has it. */
  function focus(eventId) {
    const same = list.querySelector(`[data-event-id="${CSS.escape(eventId)}"]`);
    (same ?? list.lastElementChild)?.firstElementChild.focus({ preventScroll: true });
  }

  function tell() {
    section.querySelector(".caption").textContent = caption(page);
  }

  function link() {
    const { startCursor, endCursor, hasNextPage, hasPreviousPage } = page.pageInfo;
    turn("#first", isTurned && addressOf({}));
    turn("#previous", hasPreviousPage && startCursor && addressOf({ before: startCursor }));
    turn("#next", hasNextPage && endCursor && addressOf({ after: endCursor }));
  }

  /** A link that leads nowhere stays in its place, and is disabled. */
  function turn(name, address) {
    const link = section.querySelector(name);
    if (address) {
      link.href = address;
      link.removeAttribute("aria-disabled");
      link.removeAttribute("role");
    } else {
      link.removeAttribute("href");
      link.setAttribute("role", "link");
      link.setAttribute("aria-disabled", "true");
    }
  }

  function mark() {
    for (const item of list.children) {
      const is = item.dataset.eventId === selected;
      item.classList.toggle("selected", is);
      if (is) {
        item.firstElementChild.setAttribute("aria-current", "true");
      } else {
        item.firstElementChild.removeAttribute("aria-current");
      }
    }
  }

  /** Colours the magnitudes as on the map. */
  function paint() {
    if (colouring) {
      list.className = `by-${colouring.name}`;
      page?.edges.forEach(({ node }, n) => {
        list.children[n].querySelector(".magnitude").className = `magnitude ${colouring.of(node)}`;
      });
    }
  }

  return {
    /**
     * @param {object} connection  EventConnection
     * @param {boolean} turned
     */
    show(connection, turned) {
      page = connection;
      isTurned = turned;
      draw();
    },
    /** @param {import("./scales.js").Colouring} given */
    colour(given) {
      colouring = given;
      paint();
    },
    /**
     * Takes in arrivals, each once and in its place by time, if nothing newer precedes this page.
     *
     * @param {Edge[]} arrived
     */
    insert(arrived) {
      const unknown = arrived.filter(({ node }) => page && !this.find(node.eventId));
      const edges = [...new Map(unknown.map((edge) => [edge.node.eventId, edge])).values()];
      if (!edges.length || page.pageInfo.hasPreviousPage) {
        return;
      }
      const all = [...edges, ...page.edges].sort((one, other) => ORDERS.newest.compare(one.node, other.node));
      const most = page.pageInfo.hasNextPage ? page.edges.length : ROWS; // what is behind its last row is on the next
      const kept = all.slice(0, most);
      const pageInfo = {
        ...page.pageInfo,
        hasNextPage: page.pageInfo.hasNextPage || all.length > most,
        startCursor: kept[0].cursor,
        endCursor: kept.at(-1).cursor,
      };
      page = { ...page, edges: kept, pageInfo };
      draw();
    },
    /** Shows another version of an event, or none of it any more, if it is on the page. */
    replace(eventId, event) {
      if (this.find(eventId)) {
        const edges = page.edges.flatMap((edge) => {
          const isIt = edge.node.eventId === eventId;
          return isIt ? (event ? [{ ...edge, node: event }] : []) : [edge];
        });
        page = { ...page, edges };
        draw();
      }
    },
    /** @param {?number} totalCount  of the connection, as it is by now */
    count(totalCount) {
      if (page) {
        page = { ...page, totalCount };
        tell();
      }
    },
    /** Keeps what else the address chooses by now when its page is turned. */
    readdress() {
      if (page) {
        link();
      }
    },
    /** Writes it anew, as people prefer times and lengths by now. */
    rewrite() {
      if (page) {
        draw();
      }
    },
    /** Forgets what was shown, so that nothing of it is mistaken for what comes. */
    forget() {
      page = null;
    },
    find: (eventId) => page?.edges.find(({ node }) => node.eventId === eventId)?.node,
    select(eventId) {
      selected = eventId;
      mark();
    },
    get total() {
      return page?.totalCount;
    },
  };
}

function caption({ edges, totalCount }) {
  if (!edges.length) {
    return "No events.";
  }
  const times = edges.map(({ node }) => node.eventTsMs);
  const total = totalCount === null ? "" : `, of ${count(totalCount)}`;
  return `${counted(edges.length, "event")} from ${minute(Math.min(...times))} to ${minute(Math.max(...times))}${total}`;
}

function item(event) {
  const link = element("a");
  link.href = `events/${encodeURIComponent(event.eventId)}`;
  const when = element("time");
  when.dateTime = new Date(event.eventTsMs).toISOString();
  age(when);
  link.append(
    element("span", magnitude(event.mag), "magnitude"),
    element("span", place(event.place), "place"),
    when,
    element("span", event.depth === null ? "" : `${depth(event.depth)} deep`, "depth"),
  );
  const item = element("li", "", event.mag >= STRONG ? "strong" : "");
  item.dataset.eventId = event.eventId;
  item.append(link);
  return item;
}

/** 14:31:44, 4 min. ago; after a day the date instead of the age */
function age(when) {
  const ms = Date.parse(when.dateTime);
  const now = Date.now();
  when.textContent = now - ms < DAY_MS ? `${time(ms).slice("2023-08-04 ".length)}, ${relative(ms, now)}` : time(ms);
}
