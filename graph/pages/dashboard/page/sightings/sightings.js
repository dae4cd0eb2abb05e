// What people report: the part of the page that shows sightings on the map and in a list, and takes reports. It is there
// only where the service has sightings and the caller may read them.

import { REPORT } from "../documents.js";
import { ask, wording } from "../graph.js";
import { problemList } from "../problem_list.js";
import { reportForm } from "./report_form.js";
import { sightingList } from "./sighting_list.js";
import { SightingWatch } from "./sighting_watch.js";
import { confirmed, outcome, title, until } from "./sighting_words.js";

/**
 * @param {HTMLElement} section
 * @param {{map: object, say: (id: string, text: string) => void, problems: object}} views  of the page
 */
export function sightings(section, { map, say, problems }) {
  const told = problemList(section.querySelector(".problems"), () => {}); // of what the user does here
  const list = sightingList(section, confirm);
  const form = reportForm(section.querySelector(".report"), report, (texts) => told.tell("action", texts));
  let watch = null;

  const views = {
    say,
    problems,
    reveal(service) {
      section.hidden = false;
      form.open(service);
    },
    show(newest, now, mayConfirm) {
      list.show(newest, now, mayConfirm);
      map.showSightings(newest, now);
    },
  };

  /** Does what the user asks for, and tells what came of it. Returns whether it succeeded. */
  async function act(work) {
    try {
      say("sighting-outcome", "");
      const sentence = await work();
      told.tell("action", []);
      say("sighting-outcome", sentence);
      return true;
    } catch (error) {
      told.tell("action", [wording(error)]);
      return false;
    }
  }

  function confirm(sighting) {
    return act(async () => {
      const { sighting: after, confirmed: isNew } = await watch.confirm(sighting);
      return isNew
        ? `${title(after)}: ${confirmed(after)}, and shown ${until(after)}.`
        : `You have confirmed this before: ${title(after)}.`;
    });
  }

  function report(input) {
    return act(async () => {
      const { reportSighting } = await ask(REPORT, { input });
      watch.take(reportSighting.sighting);
      return outcome(reportSighting);
    });
  }

  return {
    /** Shows them anew. */
    show() {
      watch?.end();
      section.hidden = true;
      watch = new SightingWatch(Number(document.documentElement.dataset.pageSize), views);
    },
    select: (sightingId) => list.select(sightingId),
  };
}
