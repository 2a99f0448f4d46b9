/**
 * Finds the line of the game that called what stopped inside of the library.
 *
 * The browser's error names the calls by their offsets in the module, the source map beside it says what stands
 * there. Safari tells no offsets.
 */
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** The place as a text, or null when nobody knows it. */
export async function callerOf(error, mapAddress) {
  const response = await fetch(mapAddress);
  if (!response.ok) return null;
  const { sources, mappings } = await response.json();
  const places = placesOf(mappings);
  for (const offset of callsOf(error)) {
    const place = places.findLast((each) => each.offset <= offset);
    const file = sources[place?.source];
    // The library's files are named `std:list` and the like.
    if (file !== undefined && !file.includes(":")) return `${file}:${place.line + 1}:${place.column + 1}`;
  }
  return null;
}

/** Offsets of the calls, the innermost first. */
function callsOf(error) {
  return [...String(error.stack).matchAll(/wasm-function\[\d+\]:0x([0-9a-f]+)/g)].map(([, digits]) =>
    parseInt(digits, 16)
  );
}

/**
 * Each part of a map says how far it is from the part before: the offset, and where it has a place, the source, line
 * and column.
 */
function placesOf(mappings) {
  let [offset, source, line, column] = [0, 0, 0, 0];
  return mappings.split(",").map((part) => {
    const steps = stepsOf(part);
    offset += steps[0];
    if (steps.length === 1) return { offset };
    [source, line, column] = [source + steps[1], line + steps[2], column + steps[3]];
    return { offset, source, line, column };
  });
}

/**
 * Numbers of five bits in each letter, the lowest first; the sixth bit says that more follow, the lowest of all is
 * the sign.
 */
function stepsOf(part) {
  const steps = [];
  let [value, shift] = [0, 0];
  for (const letter of part) {
    const digit = DIGITS.indexOf(letter);
    value += (digit & 31) * 2 ** shift;
    shift += 5;
    if (digit >= 32) continue;
    steps.push(value % 2 === 0 ? value / 2 : -(value - 1) / 2);
    [value, shift] = [0, 0];
  }
  return steps;
}
