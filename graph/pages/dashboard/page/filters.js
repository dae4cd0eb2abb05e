// The filters in their three forms: the address, the form and the graph's variables. The form is where a filter is
// declared: its input's name is the name in the address, and what the input takes is what the address may say.

const USUAL = { period: "week", colour: "age", sort: "newest" };
const HOW = ["colour", "sort"]; // how events are shown, not which
const SIGNIFICANT = 600; // from this significance on, USGS calls an event significant

/** What the parameters of an address say of the filters, as text that is the same where they say the same. */
export function said(form, parameters) {
  return JSON.stringify(inputs(form).map(({ name }) => parameters.get(name) ?? ""));
}

/**
 * Fills the form from the parameters of an address.
 *
 * @param {HTMLFormElement} form
 * @param {URLSearchParams} parameters
 * @returns {string[]} what is wrong with those that were left out
 */
export function fill(form, parameters) {
  form.reset();
  const problems = [];
  for (const input of inputs(form)) {
    const given = parameters.get(input.name) ?? "";
    put(input, given);
    if (given && (get(input) !== whole(input, given) || !input.validity.valid)) {
      problems.push(`${title(input)}: the address says “${given}”, which is not possible, so it is left out.`);
      put(input, "");
    }
  }
  if (isPartOfBox(form)) {
    problems.push("Area: it takes all four edges, so it is left out.");
    edges(form).forEach((edge) => (edge.value = ""));
  }
  for (const [min, max] of reversed(form)) {
    problems.push(`${order(min, max)}, so ${name(max)} is left out.`);
    max.value = "";
  }
  return problems;
}

/** Chooses how events are shown as the parameters of an address say, or as usual; tells what is wrong with them. */
export function fillHow(form, parameters) {
  return HOW.flatMap((name) => {
    const given = parameters.get(name) || USUAL[name];
    const control = form.elements[name]; // a list of radio buttons, or a select
    control.value = given;
    if (control.value === given) {
      return [];
    }
    control.value = USUAL[name];
    return [`${name === "sort" ? "Sort" : "Colour by"}: there is no “${given}”.`];
  });
}

/**
 * What is wrong with the form as it was filled in.
 *
 * @param {HTMLFormElement} form
 */
export function problems(form) {
  const found = inputs(form)
    .filter((input) => !input.validity.valid)
    .map((input) => `${title(input)}: ${input.validationMessage}`);
  if (!found.length && isPartOfBox(form)) {
    found.push("Area: give all four edges, or none.");
  }
  return [...found, ...reversed(form).map(([min, max]) => `${order(min, max)}.`)];
}

/** The parameters of the address that says the same as the form; defaults and empty filters are left out. */
export function parameters(form) {
  const { from, to } = form.elements;
  const isSaid = ([name, value]) => value && value !== USUAL[name] && !(name === "period" && (from.value || to.value));
  return new URLSearchParams([...new FormData(form)].map(shortened).filter(isSaid));
}

/** How many filters the form has, besides the period. */
export function number(form) {
  const names = [...parameters(form).keys()].filter((name) => !HOW.includes(name) && name !== "period");
  const groups = names.map((name) => (["north", "west", "east"].includes(name) ? "south" : name));
  return new Set(groups).size;
}

/** The period that the form selects, unless it has a time of its own. */
export const period = (form) => (form.elements.from.value || form.elements.to.value ? "all" : form.elements.period.value);

/** The form as the graph's EventFilter, without its period. */
export function eventFilter(form) {
  const { minMagnitude, maxMagnitude, from, to, minDepth, maxDepth, south, north, west, east } = form.elements;
  const { type, place, significant } = form.elements;
  return filled({
    minMagnitude: numeric(minMagnitude),
    maxMagnitude: numeric(maxMagnitude),
    startTime: from.value && `${from.value}:00.000Z`,
    endTime: to.value && `${to.value}:59.999Z`,
    minDepth: numeric(minDepth),
    maxDepth: numeric(maxDepth),
    box: south.value && {
      minLat: numeric(south),
      maxLat: numeric(north),
      minLon: numeric(west),
      maxLon: numeric(east),
    },
    types: type.value && [type.value],
    place: place.value.trim(),
    minSig: significant.checked && SIGNIFICANT,
  });
}

/** Puts a box into the form, by its edges in degrees. */
export function setArea(form, box) {
  for (const edge of edges(form)) {
    edge.value = box ? String(Math.round(100 * box[edge.name]) / 100) : "";
  }
}

/** Puts a time range into the form, epoch milliseconds. */
export function setTimes(form, { from, to }) {
  form.elements.from.value = new Date(from).toISOString().slice(0, 16);
  form.elements.to.value = new Date(to).toISOString().slice(0, 16);
}

function inputs(form) {
  return [...form.elements].filter(({ name }) => name && !HOW.includes(name));
}

/** Puts what an address says into an input; nothing means what is usual. */
function put(input, text) {
  if (input.type === "checkbox") {
    input.checked = text === input.value;
  } else {
    input.value = text ? whole(input, text) : (USUAL[input.name] ?? "");
  }
}

function get(input) {
  return input.type === "checkbox" ? (input.checked ? input.value : "") : input.value;
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const EDGES = { from: "T00:00", to: "T23:59" };

/** A time in full, where an address has the day alone. */
function whole({ name }, text) {
  return EDGES[name] && DAY.test(text) ? `${text}${EDGES[name]}` : text;
}

/** A time without its hours, where the day says the same. */
function shortened([name, value]) {
  return [name, EDGES[name] && value.endsWith(EDGES[name]) ? value.slice(0, -EDGES[name].length) : value];
}

function edges(form) {
  return ["south", "north", "west", "east"].map((name) => form.elements[name]);
}

function isPartOfBox(form) {
  return new Set(edges(form).map(({ value }) => value === "")).size > 1;
}

const RANGES = [["minMagnitude", "maxMagnitude"], ["minDepth", "maxDepth"], ["from", "to"], ["south", "north"]];

/** The ranges whose ends are in the wrong order. */
function reversed({ elements }) {
  const value = (input) => (input.type === "number" ? Number(input.value) : input.value);
  return RANGES.map(([min, max]) => [elements[min], elements[max]]).filter(
    ([min, max]) => min.value && max.value && value(min) > value(max),
  );
}

const order = (min, max) => `${group(min)}: ${name(min)} is beyond ${name(max)}`;

/** The name of an input for people: that of its group, if it is in one, and its own. */
const title = (input) => (group(input) ? `${group(input)}, ${name(input)}` : name(input));

const name = (input) => input.labels[0].firstChild.textContent.trim();

const group = (input) => input.closest("fieldset")?.querySelector("legend").textContent.split(/[,;]/)[0];

function numeric(input) {
  return input.value === "" ? undefined : Number(input.value);
}

function filled(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== "" && value !== false));
}
