// The form with which people report what they feel or see. Its inputs carry the names of the graph's ReportSightingInput,
// and those of the questionnaire the names and numbers of its FeltInput.

import { element } from "../html.js";
import { category } from "./sighting_words.js";

/**
 * @param {HTMLElement} place  holds the form, and the sentence in its place for those who may not report
 * @param {(input: object) => Promise<boolean>} onReport  resolves to whether it was taken
 * @param {(texts: string[]) => void} tell  of what is wrong
 */
export function reportForm(place, onReport, tell) {
  const form = place.querySelector("form");
  const fields = form.elements;
  const locate = form.querySelector(".locate");
  let isSending = false;

  form.addEventListener("submit", async (submit) => {
    submit.preventDefault();
    const found = problems(form);
    tell(found);
    if (found.length) {
      inputs(form).find((input) => input.ariaInvalid)?.focus();
    } else if (!isSending) {
      isSending = true;
      if (await onReport(input(form))) {
        form.reset();
      }
      isSending = false;
    }
  });

  locate.hidden = !navigator.geolocation;
  locate.addEventListener("click", () => {
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        fields.lat.value = coords.latitude.toFixed(4);
        fields.lon.value = coords.longitude.toFixed(4);
        tell([]);
      },
      ({ message }) => tell([`Your position is not known: ${message}. An area is enough.`]),
    );
  });

  return {
    /** @param {{categories: string[], mayWrite: boolean}} service */
    open({ categories, mayWrite }) {
      place.querySelector(".unable").hidden = mayWrite;
      form.hidden = !mayWrite;
      const known = [...fields.category.options].map(({ value }) => value);
      fields.category.append(...categories.filter((name) => !known.includes(name)).map(option));
    },
  };
}

function option(name) {
  const made = element("option", category(name));
  made.value = name;
  return made;
}

/** What is wrong with the form, whose inputs are marked. */
function problems(form) {
  const { area, lat, lon } = form.elements;
  const wrong = new Map(
    inputs(form)
      .filter((input) => !input.validity.valid)
      .map((input) => [input, `${input.labels[0].firstChild.textContent.trim()}: ${input.validationMessage}`]),
  );
  if (!wrong.size && (lat.value === "") !== (lon.value === "")) {
    wrong.set(lat.value === "" ? lat : lon, "Where: give both latitude and longitude, or neither.");
  } else if (!wrong.size && !area.value.trim() && lat.value === "") {
    wrong.set(area, "Where: give an area, or latitude and longitude.");
  } else if (!wrong.size && lat.value === "" && Object.keys(answers(form)).length) {
    wrong.set(lat, "Where: what you felt counts with latitude and longitude only.");
  }
  inputs(form).forEach((input) => (input.ariaInvalid = wrong.has(input) ? "true" : null));
  return [...wrong.values()];
}

function input(form) {
  const { category, area, lat, lon, text } = form.elements;
  const questionnaire = answers(form);
  return {
    category: category.value,
    area: area.value.trim() || null,
    lat: lat.value === "" ? null : Number(lat.value),
    lon: lon.value === "" ? null : Number(lon.value),
    text: text.value.trim() || null,
    questionnaire: Object.keys(questionnaire).length ? questionnaire : null,
  };
}

/** The answered questions. */
function answers(form) {
  const questions = [...form.querySelectorAll(".questionnaire select")];
  return Object.fromEntries(questions.filter(({ value }) => value).map(({ name, value }) => [name, Number(value)]));
}

function inputs(form) {
  return [...form.elements].filter(({ name }) => name);
}
