/** Time zones: offsets at instants and local times. */
import assert from "node:assert/strict";
import { daysFromCivil, microsecondsFromDay } from "./calendar.ts";
import { civilFromDays, daysInMonth } from "./calendar.ts";
import { findTimeZone, fixedTimeZone, numericOffset, timeZone, UTC } from "./time_zone.ts";

const HOUR = 3_600_000_000;

Deno.test("TimeZone.offsetAt() changes at the very second", () => {
  const zone = timeZone("America/New_York");
  const change = Number(microsecondsFromDay(daysFromCivil(2021, 3, 14), 7 * HOUR));
  assert.equal(zone.offsetAt(change - 1), -5 * 3600);
  assert.equal(zone.offsetAt(change), -4 * 3600);
  assert.equal(zone.abbreviationAt(change), "EDT");
  assert.equal(timeZone("Asia/Kathmandu").abbreviationAt(change), "+0545");
  assert.equal(zone.isDaylightAt(change), true);
  assert.equal(zone.isDaylightAt(change - 1), false);
});

Deno.test("TimeZone.fromLocal() and toLocal() are inverse where local time is unique", () => {
  for (const name of ["UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns"]) {
    const zone = timeZone(name);
    for (let year = 1900; year < 2100; year += 7) {
      const local = microsecondsFromDay(daysFromCivil(year, 1, 15), 12 * HOUR);
      assert.equal(zone.toLocal(zone.fromLocal(local)), local, `${name} ${year}`);
    }
    assert.equal(zone.toLocal(Infinity), Infinity);
  }
});

Deno.test("timeZone() knows names in any case, fixed offsets and POSIX forms", () => {
  assert.equal(timeZone("europe/paris").name, "Europe/Paris");
  assert.equal(timeZone("utc"), timeZone("utc"));
  assert.equal(timeZone("UTC"), UTC);
  assert.equal(timeZone("UTC+3").offsetAt(0), -3 * 3600);
  assert.equal(timeZone("<+05>-05").offsetAt(0), 5 * 3600);
  assert.equal(timeZone("Etc/GMT-2").offsetAt(0), 2 * 3600);
  assert.equal(fixedTimeZone(-12600).name, "<-03:30>+03:30");
  assert.equal(findTimeZone("Nowhere/City"), undefined);
  assert.throws(() => timeZone("Nowhere/City"), /time zone "Nowhere\/City" not recognized/);
});

Deno.test("numericOffset() shows what is needed", () => {
  assert.equal(numericOffset(3600), "+01");
  assert.equal(numericOffset(-12600), "-03:30");
  assert.equal(numericOffset(1172), "+00:19:32");
});

Deno.test("civilFromDays() inverts daysFromCivil() over the whole calendar", () => {
  for (let year = -4713; year < 10000; year += 13) {
    for (let month = 1; month <= 12; month++) {
      for (const day of [1, daysInMonth(year, month)]) {
        assert.deepEqual(civilFromDays(daysFromCivil(year, month, day)), { year, month, day });
      }
    }
  }
  assert.equal(daysFromCivil(2000, 1, 1), 0);
  assert.equal(daysFromCivil(1970, 1, 1), -10957);
});
