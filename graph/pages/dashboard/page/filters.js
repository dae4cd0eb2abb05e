// The filters in their three forms: the address, the form and the graph's variables. The form is where a filter is
// declared: its input's name is the name in the address, and what the input takes is what the address may say.

const USUAL_COLOUR = "age";

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
    input.value = given;
    if (given && (!input.value || !input.validity.valid)) {
      problems.push(`${title(input)}: the address says “${given}”, which is not possible, so it is left out.`);
      input.value = "";
    }
  }
  if (isPartOfBox(form)) {
    problems.push("Area: it takes all four edges, so it is left out.");
    edges(form).forEach((edge) => (edge.value = ""));
  }
  return problems;
}

/** Chooses the colouring that the parameters of an address name, or the usual one; tells if there is no such. */
export function fillColour(form, parameters) {
  const colour = parameters.get("colour") || USUAL_COLOUR;
  const choices = [...form.elements.colour];
  const choice = choices.find(({ value }) => value === colour);
  (choice ?? choices.find(({ value }) => value === USUAL_COLOUR)).checked = true;
  return choice ? [] : [`Colour by: there is no “${colour}”.`];
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
  return found;
}

/** The parameters of the address that says the same as the form; defaults and empty filters are left out. */
export function parameters(form) {
  const isUsual = (name, value) => name === "colour" && value === USUAL_COLOUR;
  return new URLSearchParams([...new FormData(form)].filter(([name, value]) => value && !isUsual(name, value)));
}

/** The form as the graph's EventFilter. */
export function eventFilter(form) {
  const { minMagnitude, maxMagnitude, from, to, minDepth, maxDepth, south, north, west, east, type } = form.elements;
  return filled({
    minMagnitude: number(minMagnitude),
    maxMagnitude: number(maxMagnitude),
    startTime: from.value && `${from.value}T00:00:00.000Z`,
    endTime: to.value && `${to.value}T23:59:59.999Z`,
    minDepth: number(minDepth),
    maxDepth: number(maxDepth),
    box: south.value && {
      minLat: number(south),
      maxLat: number(north),
      minLon: number(west),
      maxLon: number(east),
    },
    types: type.value && [type.value],
  });
}

function inputs(form) {
  return [...form.elements].filter(({ name, type }) => name && type !== "radio");
}

function edges(form) {
  return ["south", "north", "west", "east"].map((name) => form.elements[name]);
}

function isPartOfBox(form) {
  return new Set(edges(form).map(({ value }) => value === "")).size > 1;
}

/** The name of an input for people: that of its group and its own. */
function title(input) {
  const [group] = input.closest("fieldset").querySelector("legend").textContent.split(/[,;]/);
  return `${group}, ${input.labels[0].textContent.trim()}`;
}

function number(input) {
  return input.value === "" ? undefined : Number(input.value);
}

function filled(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== ""));
}
