// The list: one page of the connection `events`, as a table. What is on the page is kept as edges, so that the links to
// the pages around it are right also when arrivals have pushed rows out.

import { usgsLink } from "./event_details.js";
import { count, counted, decimal, magnitude, minute, time } from "./format.js";
import { element } from "./html.js";

/** Rows on a page. */
export const ROWS = 25;

/**
 * @typedef {{cursor: string, node: import("./documents.js").QuakeEvent}} Edge
 *
 * @param {HTMLElement} section
 * @param {(eventId: string) => void} onSelect
 * @param {(page: {after?: string, before?: string}) => string} addressOf  of a page of the list
 */
export function eventList(section, onSelect, addressOf) {
  const body = section.querySelector("tbody");
  let page = null; // the connection
  let isTurned = false; // whether it is a page other than that of the plain address
  let selected = null;

  body.addEventListener("click", ({ target }) => {
    const row = target.closest("tr[data-event-id]");
    if (row && !target.closest("a")) {
      onSelect(row.dataset.eventId);
    }
  });
  body.addEventListener("keydown", (key) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[key.key];
    const next = step && body.rows[key.target.closest("tr").sectionRowIndex + step];
    if (next) {
      key.preventDefault();
      next.querySelector("button").focus();
    }
  });

  function draw() {
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    body.replaceChildren(...page.edges.map(({ node }) => row(node)));
    tell();
    link();
    mark();
    if (focused) {
      focus(focused.closest("tr").dataset.eventId, focused.localName);
    }
  }

  /** Gives focus back, without scrolling: who has it may read elsewhere. Where its row is gone, the last one has it. */
  function focus(eventId, name) {
    const same = body.querySelector(`[data-event-id="${CSS.escape(eventId)}"] ${name}`);
    (same ?? body.querySelector("tr:last-child button"))?.focus({ preventScroll: true });
  }

  function tell() {
    section.querySelector("caption").textContent = caption(page);
  }

  function link() {
    const { startCursor, endCursor, hasNextPage, hasPreviousPage } = page.pageInfo;
    turn("#newest", isTurned && addressOf({}));
    turn("#newer", hasPreviousPage && startCursor && addressOf({ before: startCursor }));
    turn("#older", hasNextPage && endCursor && addressOf({ after: endCursor }));
  }

  /** A link that leads nowhere stays in its place, and is told to be disabled. */
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
    for (const row of body.rows) {
      const is = row.dataset.eventId === selected;
      row.classList.toggle("selected", is);
      row.querySelector("button")?.setAttribute("aria-pressed", is);
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
      const all = [...edges, ...page.edges].sort((one, other) => other.node.eventTsMs - one.node.eventTsMs);
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
  const times = `from ${minute(edges.at(-1).node.eventTsMs)} to ${minute(edges[0].node.eventTsMs)}`;
  const total = totalCount === null ? "" : `, of ${count(totalCount)}`;
  return `${counted(edges.length, "event")} ${times}${total}`;
}

function row(event) {
  const row = element("tr");
  row.dataset.eventId = event.eventId;
  const place = element("th");
  place.scope = "row";
  const button = element("button", event.place);
  button.type = "button";
  place.append(button);
  const more = element("td");
  more.append(usgsLink(event, "USGS") ?? "");
  row.append(
    element("td", magnitude(event.mag), "number"),
    place,
    element("td", time(event.eventTsMs), "time"),
    element("td", event.depth === null ? "–" : decimal(event.depth, 1), "number"),
    more,
  );
  return row;
}
