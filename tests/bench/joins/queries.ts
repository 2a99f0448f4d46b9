/**
 * Forty queries over the schema beside: 3 to 12 joins each, conditions on skewed columns and on several that depend on
 * each other.
 */

/** What joins a table to the ones before it, by the alias it gets. */
const TABLES: Readonly<Record<string, string>> = {
  w: "work w",
  g: "genre g ON g.id = w.genre_id",
  wc: "country wc ON wc.id = w.country_id",
  mc: "work_company mc ON mc.work_id = w.id",
  co: "company co ON co.id = mc.company_id",
  cc: "country cc ON cc.id = co.country_id",
  cr: "credit cr ON cr.work_id = w.id",
  p: "person p ON p.id = cr.person_id",
  ci: "city ci ON ci.id = p.city_id",
  pc: "country pc ON pc.id = ci.country_id",
  wk: "work_keyword wk ON wk.work_id = w.id",
  k: "keyword k ON k.id = wk.keyword_id",
  r: "review r ON r.work_id = w.id",
  a: "award a ON a.work_id = w.id",
  re: "release re ON re.work_id = w.id",
  rc: "country rc ON rc.id = re.country_id",
  s: "sequel s ON s.work_id = w.id",
  o: "work o ON o.id = s.of_id",
  og: "genre og ON og.id = o.genre_id",
  ow: "award ow ON ow.work_id = o.id",
};

/** The sum of floating point keeps the planner from aggregating below the joins, whose rows are what is estimated. */
function counted(aliases: string, condition: string): string {
  const joined = aliases.split(" ").map((alias) => TABLES[alias] ?? alias);
  return `SELECT count(*), sum(w.id::float8) FROM ${joined.join(" JOIN ")} WHERE ${condition}`;
}

/** The queries, each by the number of its joins and a letter. */
export const QUERIES: Readonly<Record<string, string>> = {
  "3a": counted("w g mc co", "g.name = 'genre 5' AND co.kind = 'studio'"),
  "3b": counted("w wk k g", "k.topic = 'space' AND w.year > 2015"),
  "3c": counted("w cr p ci", "p.profession = 'composer' AND ci.size = 'large' AND w.kind = 'game'"),
  "3d": counted(
    "w wc r g",
    "wc.continent = 'Asia' AND r.stars = 5 AND r.source = 'shop' AND g.kind = 'book'",
  ),
  "3e": counted("w re rc a", "re.format = 'cinema' AND re.year < 1990 AND a.won"),
  "3f": counted("w wc mc co", "wc.name = 'country 1' AND w.language = 'French' AND co.founded > 1990"),
  "3g": counted("w s o og", "s.kind = 'remakes' AND og.name = 'genre 30'"),
  "3h": counted("w r g wc", "w.kind = 'game' AND w.year < 2000 AND r.source = 'press'"),
  "4a": counted("w cr p ci pc", "pc.name = 'country 2' AND p.birth_year > 1980 AND w.kind = 'film'"),
  "4b": counted("w wk k g wc", "k.word = 'word 17' AND w.language = wc.language"),
  "4c": counted("w mc co cc g", "cc.name = 'country 1' AND co.kind = 'label' AND mc.role = 'makes'"),
  "4d": counted("w a cr p g", "a.category = 'category 0' AND a.won AND p.gender = 'f'"),
  "4e": counted("w r wk k wc", "k.topic = 'crime' AND r.stars >= 4 AND w.rating > 7.5"),
  "4f": counted("w re rc g wc", "rc.id = wc.id AND w.year BETWEEN 1990 AND 1999"),
  "5a": counted("w cr p ci pc g", "p.country_id = pc.id AND pc.continent = 'Europe' AND g.kind = 'film'"),
  "5b": counted(
    "w mc co cc wc g",
    "cc.language = 'Hindi' AND wc.language = 'Hindi' AND w.language = 'Hindi'",
  ),
  "5c": counted(
    "w wk k r re rc",
    "k.topic = 'love' AND r.source = 'app' AND re.format = 'disc' AND w.votes > 50000",
  ),
  "5d": counted("w s o og ow g", "ow.won AND g.kind = 'film' AND og.kind = 'book'"),
  "5e": counted("w a cr p ci g", "cr.role = 'actor' AND cr.position = 1 AND p.profession = 'actor'"),
  "5f": counted(
    "w mc co r g wc",
    "w.kind = 'album' AND g.name IN ('genre 3', 'genre 8') AND co.kind = 'label'",
  ),
  "6a": counted("w cr p wk k g a", "cr.role = 'director' AND k.topic = 'war' AND w.year < 1970"),
  "6b": counted("w mc co cc re rc g", "mc.role = 'sells' AND re.year = 2010 AND rc.name = cc.name"),
  "6c": counted("w wc cr p ci pc a", "pc.id = wc.id AND a.category = 'category 3'"),
  "6d": counted("w r wk k s o g", "r.year > 2020 AND s.kind = 'follows' AND o.year < 2000"),
  "6e": counted(
    "w cr p ci pc wc g",
    "p.gender = 'f' AND p.profession = 'actor' AND w.kind = 'series' AND wc.id = 3",
  ),
  "7a": counted("w cr p ci pc mc co a", "co.founded IS NULL AND a.won AND p.birth_year < 1930"),
  "7b": counted("w wk k r re rc g wc", "k.word = 'word 3' AND r.stars = 1 AND re.format = 'stream'"),
  "7c": counted("w mc co cc cr p ci pc", "cc.id = pc.id AND w.votes > 90000 AND mc.role = 'pays'"),
  "7d": counted("w s o og ow g wc r", "ow.category = 'category 1' AND r.source = 'web' AND r.stars = 3"),
  "8a": counted("w cr p ci pc mc co cc a", "cc.continent = 'Africa' AND pc.continent = 'Africa' AND a.won"),
  "8b": counted("w wk k g wc re rc a s", "k.topic = 'magic' AND g.kind = 'game' AND w.year > 2000"),
  "8c": counted(
    "w r mc co cc wk k g wc",
    "w.rating > 9 AND k.word = 'word 20' AND r.stars = 5 AND mc.role = 'pays'",
  ),
  "9a": counted(
    "w cr p ci pc wk k mc co g",
    "k.topic = 'music' AND w.kind = 'album' AND p.profession = 'composer' AND w.year = 2001",
  ),
  "9b": counted(
    "w a re rc mc co cc g wc s",
    "re.format = 'print' AND a.category = 'category 2' AND cc.id < 5",
  ),
  "9c": counted("w s o og ow cr p ci pc g", "w.votes < 10 AND p.gender = 'f' AND ow.won"),
  "10a": counted("w cr p ci pc wk k mc co cc a", "w.title = 'work 4711' OR w.title = 'work 100'"),
  "10b": counted(
    "w r a re rc mc co cc wk k g",
    "w.year = 2015 AND k.topic = 'family' AND r.stars = 2 AND a.won AND re.year = 2016",
  ),
  "11a": counted(
    "w g wc mc co cc cr p ci pc a s",
    "w.language = 'English' AND wc.language = 'English' AND cc.language = 'English' AND pc.language = 'English' " +
      "AND a.category = 'category 5' AND w.kind = 'film'",
  ),
  "12a": counted("w g wc mc co cc wk k r a s o og", "g.kind = 'game' AND w.year > 2010 AND k.id < 50"),
  "12b": counted(
    "w g wc cr p ci pc a s o og ow re",
    "a.won AND ow.won AND p.birth_year BETWEEN 1950 AND 1960 AND re.format = 'cinema' AND w.kind = 'film'",
  ),
  "2x":
    "SELECT count(*) FROM work w JOIN genre g ON g.id = w.genre_id LEFT JOIN award a ON a.work_id = w.id AND a.won " +
    "WHERE EXISTS (SELECT FROM review r WHERE r.work_id = w.id AND r.stars = 5) AND w.year > 2010",
  "3x":
    "SELECT count(*) FROM person p JOIN city ci ON ci.id = p.city_id JOIN country c ON c.id = ci.country_id " +
    "WHERE NOT EXISTS (SELECT FROM credit cr WHERE cr.person_id = p.id) AND c.continent = 'Europe'",
};
