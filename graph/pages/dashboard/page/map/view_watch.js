// Follows the views of a map whose events are too many to be loaded, and asks what each of them holds: once the map rests,
// and only for what the last answer does not hold.

import { wording } from "../graph.js";
import { areaDegrees, boxOfAreas, common, holds } from "./view_box.js";
import { askView } from "./view_query.js";

const REST_MS = 250; // for which the map does not move

export class ViewWatch {
  #filter = null; // null while all events are loaded
  #asked = null; // what the last answer is to
  #asking = new AbortController();
  #resting = 0;

  /**
   * @param {() => {bounds: object, zoom: number}} view  what the map shows
   * @param {(answer: import("./view_query.js").Answer, degrees: number) => void} onAnswer  degrees: of areas
   * @param {(texts: string[]) => void} onProblem
   */
  constructor(view, onAnswer, onProblem) {
    this.view = view;
    this.onAnswer = onAnswer;
    this.onProblem = onProblem;
    this.pageSize = Number(document.documentElement.dataset.pageSize);
  }

  /** Asks for the events of a filter from now on, or for none. */
  follow(filter) {
    this.#filter = filter;
    this.refresh();
    if (!filter) {
      this.#asking.abort();
      this.onProblem([]);
    }
  }

  /** Asks again, also for what is known: there are other events. */
  refresh() {
    this.#asked = null;
    this.rest();
  }

  /** The map has moved, and may go on to. */
  rest() {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => this.#filter && this.#ask(), REST_MS);
  }

  async #ask() {
    const { bounds, zoom } = this.view();
    const degrees = areaDegrees(zoom);
    const box = boxOfAreas(bounds, degrees);
    if (this.#asked && this.#asked.degrees === degrees && holds(this.#asked.box, box)) {
      return;
    }
    this.#asking.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const asked = { degrees, box };
    this.#asked = asked;
    try {
      const answer = await this.#answer(box, degrees, signal);
      if (!signal.aborted) {
        this.onProblem([]);
        this.onAnswer(answer, degrees);
      }
    } catch (error) {
      if (!signal.aborted) {
        this.#asked = null;
        this.onProblem([wording(error)]);
      }
    }
  }

  async #answer(viewed, degrees, signal) {
    const { box: chosen, ...others } = this.#filter;
    const box = common(chosen ?? null, viewed);
    if (box === undefined) {
      return { events: [] };
    }
    return askView(box ? { ...others, box } : others, degrees, this.pageSize, signal);
  }
}
