/** The calendar, day by day, compared with the language's own dates and with the definition of ISO weeks. */
import { deepEqual, equal } from "node:assert/strict";
import {
  civilFromDays,
  dayOfWeek,
  daysFromCivil,
  daysInMonth,
  isoWeek,
  UNIX_EPOCH_DAYS,
} from "./calendar.ts";

const MILLISECONDS_PER_DAY = 86_400_000;

/** The days of some years, as dates of the language; day 0 is 2000-01-01. */
function* daysOfYears(first: number, last: number): Generator<readonly [days: number, date: Date]> {
  const begin = Date.UTC(2000, 0, 1) / MILLISECONDS_PER_DAY;
  const from = new Date(0);
  from.setUTCFullYear(first, 0, 1);
  for (let day = from.getTime() / MILLISECONDS_PER_DAY;; day++) {
    const date = new Date(day * MILLISECONDS_PER_DAY);
    if (date.getUTCFullYear() > last) return;
    yield [day - begin, date];
  }
}

Deno.test("civilFromDays() and daysFromCivil() agree with the language's dates", () => {
  equal(UNIX_EPOCH_DAYS, Date.UTC(2000, 0, 1) / MILLISECONDS_PER_DAY);
  for (const [first, last] of [[-402, -396], [-5, 5], [1899, 1905], [1995, 2033], [9998, 10001]] as const) {
    for (const [days, date] of daysOfYears(first, last)) {
      const civil = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
      deepEqual(civilFromDays(days), civil);
      equal(daysFromCivil(civil.year, civil.month, civil.day), days);
      equal(dayOfWeek(days), date.getUTCDay());
      const next = new Date(date.getTime() + MILLISECONDS_PER_DAY);
      if (next.getUTCMonth() !== date.getUTCMonth()) equal(daysInMonth(civil.year, civil.month), civil.day);
    }
  }
});

Deno.test("isoWeek() counts a week to the year of its Thursday", () => {
  for (const [first, last] of [[-2, 2], [1990, 2030]] as const) {
    for (const [days, date] of daysOfYears(first, last)) {
      const weekday = (date.getUTCDay() + 6) % 7;
      const thursday = new Date(date.getTime() + (3 - weekday) * MILLISECONDS_PER_DAY);
      const year = thursday.getUTCFullYear();
      const january = new Date(0);
      january.setUTCFullYear(year, 0, 1);
      const week = Math.floor((thursday.getTime() - january.getTime()) / MILLISECONDS_PER_DAY / 7) + 1;
      deepEqual(isoWeek(days), { year, week });
    }
  }
});
