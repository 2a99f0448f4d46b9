/**
 * Splitting the templates of `to_char`, `to_timestamp` and `to_date` into fields with their modifiers, separators and
 * other characters. Templates are remembered, up to 200.
 */
import { LIMITS } from "../base/limits.ts";

/** Field names, longer ones before their beginnings. Case matters: it decides the case of the output. */
const FIELDS: readonly string[] = [
  "A.D.,A.M.,AD,AM,B.C.,BC,CC,DAY,DDD,DD,DY,Day,Dy,D,FF1,FF2,FF3,FF4,FF5,FF6,FX,HH24,HH12,HH,IDDD,ID,IW,IYYY,IYY,IY,I",
  "J,MI,MM,MONTH,MON,MS,Month,Mon,OF,P.M.,PM,Q,RM,SSSSS,SSSS,SS,TZH,TZM,TZ,US,WW,W,Y,YYYY,YYY,YY,Y",
  "a.d.,a.m.,ad,am,b.c.,bc,cc,day,ddd,dd,dy,d,ff1,ff2,ff3,ff4,ff5,ff6,fx,hh24,hh12,hh,iddd,id,iw,iyyy,iyy,iy,i",
  "j,mi,mm,month,mon,ms,of,p.m.,pm,q,rm,sssss,ssss,ss,tzh,tzm,tz,us,ww,w,yyyy,yyy,yy,y",
].join(",").split(",").concat(["Y,YYY", "y,yyy"]).filter((name, index, all) => all.indexOf(name) === index)
  .sort((left, right) => right.length - left.length);

/** A piece of a template. */
export type TemplateNode =
  | {
    readonly kind: "field";
    /** Upper case, for deciding what the field is. */
    readonly name: string;
    /** As written, for deciding the case of names. */
    readonly written: string;
    readonly fill: boolean;
    /** Whether TM is before it. */
    readonly translated: boolean;
    readonly ordinal: "" | "TH" | "th";
  }
  | {
    readonly kind: "separator" | "character";
    readonly text: string;
    /** Within double quotes. */
    readonly quoted: boolean;
  };

const templates = new Map<string, readonly TemplateNode[]>();

/** The nodes of a template; remembered. */
export function parseTemplate(template: string): readonly TemplateNode[] {
  const known = templates.get(template);
  if (known !== undefined) return known;
  const nodes: TemplateNode[] = [];
  let position = 0;
  while (position < template.length) {
    let fill = false;
    let translated = false;
    const start = position;
    for (
      let prefix = template.slice(position, position + 2);;
      prefix = template.slice(position, position + 2)
    ) {
      if (prefix === "FM" || prefix === "fm") fill = true;
      else if (prefix === "TM" || prefix === "tm") translated = true;
      else break;
      position += 2;
    }
    const field = FIELDS.find((name) => template.startsWith(name, position));
    if (field !== undefined) {
      position += field.length;
      let ordinal: "" | "TH" | "th" = "";
      const suffix = template.slice(position, position + 2);
      if (suffix === "TH" || suffix === "th") {
        ordinal = suffix;
        position += 2;
      } else if (suffix === "SP") position += 2;
      nodes.push({ kind: "field", name: field.toUpperCase(), written: field, fill, translated, ordinal });
      continue;
    }
    if (position > start) continue;
    if (template[position] === '"') {
      position++;
      while (position < template.length && template[position] !== '"') {
        if (template[position] === "\\" && position + 1 < template.length) position++;
        const text = String.fromCodePoint(template.codePointAt(position) ?? 0);
        nodes.push({ kind: "character", text, quoted: true });
        position += text.length;
      }
      position++;
      continue;
    }
    if (template[position] === "\\" && template[position + 1] === '"') position++;
    const text = String.fromCodePoint(template.codePointAt(position) ?? 0);
    nodes.push({ kind: isSeparator(text) ? "separator" : "character", text, quoted: false });
    position += text.length;
  }
  if (templates.size >= LIMITS.keptTemplates) templates.clear();
  templates.set(template, nodes);
  return nodes;
}

/** Whether a character of a template or text is neither letter nor digit. */
export function isSeparator(text: string): boolean {
  return /^[\x20-\x7e\s]$/.test(text) && !/[A-Za-z0-9]/.test(text);
}

/** A field with its modifiers. */
export type FieldNode = Extract<TemplateNode, { kind: "field" }>;

/** The Roman numerals of the months. */
export const ROMAN_MONTHS: readonly string[] = [
  "I",
  "II",
  "III",
  "IV",
  "V",
  "VI",
  "VII",
  "VIII",
  "IX",
  "X",
  "XI",
  "XII",
];
