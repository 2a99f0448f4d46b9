/**
 * A library of films, books and music with skewed values and columns that depend on each other, generated from a seed:
 * a few works have most of the reviews, a language goes with a country, a topic with a genre, a person's country is
 * that of the city. Estimates that take values as spread evenly and conditions as independent are far off here
 * (V. Leis et al., "How Good Are Query Optimizers, Really?", VLDB 2015, whose data are real films).
 */
import { type SeededRandom, seededRandom } from "../../support/random.ts";

/** What can run a statement. */
interface Runner {
  execute(text: string): Promise<unknown>;
}

type Value = string | number | null;

const DEFINITIONS: Readonly<Record<string, string>> = {
  country: "id int PRIMARY KEY, name text NOT NULL, continent text NOT NULL, language text NOT NULL",
  city: "id int PRIMARY KEY, country_id int NOT NULL, name text NOT NULL, size text NOT NULL",
  person:
    "id int PRIMARY KEY, city_id int NOT NULL, country_id int NOT NULL, birth_year int, gender text, profession text",
  company: "id int PRIMARY KEY, country_id int NOT NULL, kind text NOT NULL, founded int",
  genre: "id int PRIMARY KEY, name text NOT NULL, kind text NOT NULL",
  work:
    "id int PRIMARY KEY, kind text NOT NULL, genre_id int NOT NULL, country_id int NOT NULL, language text NOT NULL, " +
    "year int NOT NULL, rating numeric(3,1), votes int NOT NULL, title text NOT NULL",
  work_company: "work_id int NOT NULL, company_id int NOT NULL, role text NOT NULL",
  credit: "work_id int NOT NULL, person_id int NOT NULL, role text NOT NULL, position int",
  keyword: "id int PRIMARY KEY, word text NOT NULL, topic text NOT NULL",
  work_keyword: "work_id int NOT NULL, keyword_id int NOT NULL",
  review:
    "id int PRIMARY KEY, work_id int NOT NULL, stars int NOT NULL, source text NOT NULL, year int NOT NULL",
  award:
    "id int PRIMARY KEY, work_id int NOT NULL, person_id int, category text NOT NULL, won boolean NOT NULL",
  release: "work_id int NOT NULL, country_id int NOT NULL, format text NOT NULL, year int NOT NULL",
  sequel: "work_id int NOT NULL, of_id int NOT NULL, kind text NOT NULL",
};

const INDEXES = [
  "city (country_id)",
  "person (city_id)",
  "work (genre_id)",
  "work_company (work_id)",
  "work_company (company_id)",
  "credit (work_id)",
  "credit (person_id)",
  "work_keyword (work_id)",
  "work_keyword (keyword_id)",
  "review (work_id)",
  "award (work_id)",
  "release (work_id)",
  "sequel (work_id)",
];

/** Groups of columns that depend on each other, as whoever knows the data would say so. */
export const STATISTICS = [
  "CREATE STATISTICS work_place ON country_id, language FROM work",
  "CREATE STATISTICS work_time (mcv) ON kind, year FROM work",
  "CREATE STATISTICS work_sort ON kind, genre_id FROM work",
  "CREATE STATISTICS person_place ON city_id, country_id FROM person",
  "CREATE STATISTICS person_work ON gender, profession FROM person",
  "CREATE STATISTICS review_kind ON stars, source FROM review",
  "CREATE STATISTICS country_kind ON continent, language FROM country",
];

const KINDS = ["film", "series", "book", "album", "game"] as const;
/** The year in which most works of a kind begin to appear. */
const KIND_YEARS: Readonly<Record<string, number>> = {
  film: 1930,
  series: 1970,
  book: 1900,
  album: 1960,
  game: 1995,
};
const LANGUAGES = ["English", "French", "Hindi", "Spanish", "Mandarin", "Arabic", "Russian", "Portuguese"];
const CONTINENTS = ["Europe", "Asia", "Africa", "North America", "South America", "Oceania"];
const PROFESSIONS = ["actor", "writer", "director", "composer", "producer", "editor"];
const TOPICS = ["crime", "love", "war", "space", "family", "sport", "music", "history", "magic", "nature"];
const SOURCES = ["press", "web", "app", "shop"];
const FORMATS = ["cinema", "disc", "stream", "print"];

/** The names of the tables. */
export const TABLES: readonly string[] = Object.keys(DEFINITIONS);

/** Small numbers are frequent: the more so, the higher the power. */
function skewed(random: SeededRandom, limit: number, power = 3): number {
  return Math.floor(limit * ((random.below(1 << 24) / (1 << 24)) ** power));
}

function chance(random: SeededRandom, percent: number): boolean {
  return random.below(100) < percent;
}

function at<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T;
}

/** The rows of each table; `scale` 1 is about 650 000 rows. */
export function generateRows(
  seed: number,
  scale: number,
): ReadonlyMap<string, readonly (readonly Value[])[]> {
  const random = seededRandom(seed);
  const sized = (count: number) => Math.max(10, Math.round(count * scale));
  const rows = new Map<string, (readonly Value[])[]>();
  const add = (table: string, count: number, row: (id: number) => readonly Value[]) =>
    rows.set(table, Array.from({ length: count }, (_, index) => row(index + 1)));
  const languageOf = (country: number) => at(LANGUAGES, country * 7 % 11);
  const countries = 60;
  add("country", countries, (id) => [id, `country ${id}`, at(CONTINENTS, id % 7), languageOf(id)]);
  const cities = sized(3000);
  const countryOfCity: number[] = [0];
  add("city", cities, (id) => {
    countryOfCity[id] = 1 + skewed(random, countries);
    return [
      id,
      countryOfCity[id],
      `city ${id}`,
      id < cities / 20 ? "large" : at(["small", "middle"], id % 3),
    ];
  });
  const people = sized(40_000);
  const professionOf: string[] = [""];
  add("person", people, (id) => {
    const city = 1 + skewed(random, cities);
    const gender = chance(random, 60) ? "m" : "f";
    const profession = at(PROFESSIONS, skewed(random, 6, gender === "m" ? 2 : 4));
    professionOf[id] = profession;
    const birth = chance(random, 15) ? null : 2005 - skewed(random, 110, 2);
    return [id, city, countryOfCity[city] as number, birth, gender, profession];
  });
  const companies = sized(4000);
  add("company", companies, (id) => [
    id,
    1 + skewed(random, countries, 4),
    at(["studio", "publisher", "label", "distributor"], skewed(random, 4, 2)),
    chance(random, 30) ? null : 2020 - skewed(random, 120),
  ]);
  const genres = 30;
  add("genre", genres, (id) => [id, `genre ${id}`, at(KINDS, id)]);
  const works = sized(50_000);
  const yearOf: number[] = [0];
  const genreOf: number[] = [0];
  add("work", works, (id) => {
    const kind = at(KINDS, skewed(random, 5, 2));
    // Nearly all works of a genre are of its kind.
    const own = KINDS.indexOf(kind) + 5 * skewed(random, 6, 2);
    const genre = chance(random, 92) ? (own === 0 ? genres : own) : 1 + random.below(genres);
    const country = 1 + skewed(random, countries);
    const language = chance(random, 90) ? languageOf(country) : random.pick(LANGUAGES);
    const year = 2024 - skewed(random, 2024 - (KIND_YEARS[kind] as number), 2);
    yearOf[id] = year;
    genreOf[id] = genre;
    // What many vote for is liked.
    const votes = skewed(random, 100_000, 6);
    const rating = chance(random, 10)
      ? null
      : Math.min(99, 30 + random.below(40) + Math.round(Math.sqrt(votes) / 8)) / 10;
    return [id, kind, genre, country, language, year, rating, votes, `work ${id}`];
  });
  /** A few works have most of everything. */
  const popular = () => 1 + (skewed(random, works, 2) * 7919) % works;
  add("work_company", sized(80_000), () => [
    popular(),
    1 + skewed(random, companies),
    at(["makes", "sells", "pays"], skewed(random, 3, 2)),
  ]);
  add("credit", sized(180_000), () => {
    const person = 1 + skewed(random, people, 2);
    const role = chance(random, 85) ? professionOf[person] as string : random.pick(PROFESSIONS);
    return [popular(), person, role, role === "actor" ? 1 + skewed(random, 40, 2) : null];
  });
  const keywords = sized(4000);
  add("keyword", keywords, (id) => [id, `word ${id}`, at(TOPICS, id)]);
  add("work_keyword", sized(120_000), () => {
    const work = popular();
    // A genre has topics of its own.
    const near = 10 * skewed(random, keywords / 10) + (genreOf[work] as number) % 10;
    return [work, chance(random, 80) && near > 0 ? near : 1 + random.below(keywords)];
  });
  add("review", sized(140_000), (id) => {
    const work = popular();
    const source = at(SOURCES, skewed(random, 4, 2));
    const stars = source === "shop"
      ? 5 - skewed(random, 2)
      : source === "press"
      ? 1 + skewed(random, 4, 1)
      : 1 + random.below(5);
    return [id, work, stars, source, Math.min(2024, (yearOf[work] as number) + skewed(random, 30))];
  });
  add("award", sized(8000), (id) => [
    id,
    popular(),
    chance(random, 40) ? null : 1 + skewed(random, people, 2),
    `category ${skewed(random, 40, 2)}`,
    chance(random, 20) ? "true" : "false",
  ]);
  add("release", sized(90_000), () => {
    const work = popular();
    const year = Math.min(2024, (yearOf[work] as number) + skewed(random, 20));
    const format = year < 1998 ? at(["cinema", "print"], random.below(3)) : at(FORMATS, skewed(random, 4, 1));
    return [work, 1 + skewed(random, countries, 2), format, year];
  });
  add(
    "sequel",
    sized(6000),
    () => [popular(), popular(), at(["follows", "remakes", "quotes"], skewed(random, 3, 2))],
  );
  return rows;
}

/** Makes the tables, fills and indexes them. */
export async function makeTables(database: Runner, seed: number, scale: number): Promise<void> {
  for (const [table, rows] of generateRows(seed, scale)) {
    await database.execute(`CREATE TABLE ${table} (${DEFINITIONS[table]})`);
    for (let from = 0; from < rows.length; from += 1000) {
      const values = rows.slice(from, from + 1000).map((row) => `(${row.map(literal).join(",")})`);
      await database.execute(`INSERT INTO ${table} VALUES ${values.join(",")}`);
    }
  }
  for (const each of INDEXES) await database.execute(`CREATE INDEX ON ${each}`);
}

function literal(value: Value): string {
  return value === null ? "NULL" : typeof value === "number" ? String(value) : `'${value}'`;
}
