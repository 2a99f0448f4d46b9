/**
 * The keywords of PostgreSQL's grammar with their categories (appendix C of its manual).
 *
 * Words of the native forms (ID, DESCRIBE, REFRESH, REJECT, GAS …) are deliberately absent: they are recognized by
 * their place only, so that they stay free as names of tables and columns.
 */

/** How far a keyword is taken from the user's names. Ordered: everything below `reserved` is a name somewhere. */
export const KEYWORD_CATEGORY = {
  /** Not a keyword. */
  none: 0,
  /** May be any name. */
  unreserved: 1,
  /** May be a column's or table's name, not a function's or type's. */
  columnName: 2,
  /** May be a function's or type's name, not a column's or table's. */
  typeFunctionName: 3,
  /** May only be a label after AS. */
  reserved: 4,
} as const;

/** One of the numbers of {@link KEYWORD_CATEGORY}. */
export type KeywordCategory = typeof KEYWORD_CATEGORY[keyof typeof KEYWORD_CATEGORY];

/** A keyword: its canonical (interned) spelling, its category, and whether it may be an alias without AS. */
export interface Keyword {
  readonly word: string;
  readonly category: KeywordCategory;
  readonly bareLabel: boolean;
}

const UNRESERVED = `
abort absent absolute access action add admin after aggregate also alter always asensitive assertion assignment at atomic
attach attribute backward before begin breadth by cache call called cascade cascaded catalog chain characteristics
checkpoint class close cluster columns comment comments commit committed compression configuration conflict connection
constraints content continue conversion copy cost csv cube current cursor cycle data database day deallocate declare
defaults deferred definer delete delimiter delimiters depends depth detach dictionary disable discard document domain
double drop each enable encoding encrypted enum escape event exclude excluding exclusive execute explain expression
extension external family filter finalize first following force format forward function functions generated global granted
groups handler header hold hour identity if immediate immutable implicit import include including increment indent index
indexes inherit inherits inline input insensitive insert instead invoker isolation keep key keys label language large last
leakproof level listen load local location lock locked logged mapping match matched materialized maxvalue merge method
minute minvalue mode month move name names new next nfc nfd nfkc nfkd no normalized nothing notify nowait nulls object of
off oids old operator option options ordinality others over overriding owned owner parallel parameter parser partial
partition passing password plans policy preceding prepare prepared preserve prior privileges procedural procedure
procedures program publication quote range read reassign recheck recursive ref referencing refresh reindex relative release
rename repeatable replace replica reset restart restrict return returns revoke role rollback rollup routine routines rows
rule savepoint scalar schema schemas scroll search second security sequence sequences serializable server session set sets
share show simple skip snapshot sql stable standalone start statement statistics stdin stdout storage stored strict strip
subscription support sysid system tables tablespace temp template temporary text ties transaction transform trigger
truncate trusted type types uescape unbounded uncommitted unencrypted unknown unlisten unlogged until update vacuum valid
validate validator value varying version view views volatile whitespace within without work wrapper write xml year yes
zone`;

const COLUMN_NAME = `
between bigint bit boolean char character coalesce dec decimal exists extract float greatest grouping inout int integer
interval least national nchar none normalize nullif numeric out overlay position precision real row setof smallint
substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces
xmlparse xmlpi xmlroot xmlserialize xmltable`;

const TYPE_FUNCTION_NAME = `
authorization binary collation concurrently cross current_schema freeze full ilike inner is isnull join left like natural
notnull outer overlaps right similar tablesample verbose`;

const RESERVED = `
all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create current_catalog
current_date current_role current_time current_timestamp current_user default deferrable desc distinct do else end except
false fetch for foreign from grant group having in initially intersect into lateral leading limit localtime localtimestamp
not null offset on only or order placing primary references returning select session_user some symmetric system_user table
then to trailing true union unique user using variadic when where window with`;

const NEEDS_AS = `
array as char character create day except fetch filter for from grant group having hour intersect into isnull limit minute
month notnull offset on order over overlaps precision returning second to union varying where window with within without
year`;

function words(list: string): string[] {
  return list.trim().split(/\s+/);
}

function buildKeywords(): Map<string, Keyword> {
  const needsAs = new Set(words(NEEDS_AS));
  const keywords = new Map<string, Keyword>();
  const add = (list: string, category: KeywordCategory) => {
    for (const word of words(list)) keywords.set(word, { word, category, bareLabel: !needsAs.has(word) });
  };
  add(UNRESERVED, KEYWORD_CATEGORY.unreserved);
  add(COLUMN_NAME, KEYWORD_CATEGORY.columnName);
  add(TYPE_FUNCTION_NAME, KEYWORD_CATEGORY.typeFunctionName);
  add(RESERVED, KEYWORD_CATEGORY.reserved);
  return keywords;
}

/** All keywords by their lower-case spelling. */
export const KEYWORDS: ReadonlyMap<string, Keyword> = buildKeywords();

/** Whether an identifier must be quoted to be read back as this very column or table name. */
export function needsQuotes(name: string): boolean {
  if (!isPlainIdentifier(name)) return true;
  const keyword = KEYWORDS.get(name);
  return keyword !== undefined && keyword.category !== KEYWORD_CATEGORY.unreserved;
}

/** The identifier as SQL text, quoted when needed (what `quote_ident` returns). */
export function quoteIdentifier(name: string): string {
  return needsQuotes(name) ? `"${name.replaceAll('"', '""')}"` : name;
}

function isPlainIdentifier(name: string): boolean {
  if (name.length === 0) return false;
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index);
    const isLetter = (code >= 97 && code <= 122) || code === 95;
    const isDigit = code >= 48 && code <= 57;
    if (!isLetter && !(isDigit && index > 0)) return false;
  }
  return true;
}

/**
 * The words that a syntax error may suggest for a misspelt one: those that statements are built of. The whole list
 * would suggest far-fetched words.
 */
export const SUGGESTED_KEYWORDS: readonly string[] = words(`
SELECT INSERT UPDATE DELETE CREATE ALTER DROP TABLE INDEX VIEW SEQUENCE SCHEMA TRIGGER FUNCTION TRUNCATE BEGIN COMMIT
ROLLBACK SAVEPOINT RELEASE EXPLAIN ANALYZE DESCRIBE REFRESH VALUES FROM WHERE GROUP ORDER HAVING LIMIT OFFSET FETCH UNION
INTERSECT EXCEPT DISTINCT INTO RETURNING CONFLICT DEFAULT PRIMARY FOREIGN REFERENCES UNIQUE CHECK CONSTRAINT COLUMN
RENAME CASCADE RESTRICT JOIN INNER LEFT RIGHT FULL OUTER CROSS NATURAL USING BETWEEN LIKE ILIKE EXISTS CASE WHEN THEN ELSE
WITH RECURSIVE WINDOW PARTITION OVER NULLS FIRST LAST TRANSACTION ISOLATION COPY VACUUM PREPARE EXECUTE DEALLOCATE DECLARE
GRANT REVOKE SHOW RESET START RANGE EXTERNAL SOURCE FORMAT REINDEX COMMENT LISTEN NOTIFY BEFORE REJECT
`);
