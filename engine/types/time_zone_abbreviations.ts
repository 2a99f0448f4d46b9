/**
 * Abbreviations of time zones: what input such as `04:05 PST` means, and what to print for a zone.
 *
 * Input abbreviations are those of PostgreSQL's `Default` set: with a fixed offset, or that of a zone at the time.
 * `MSK` has its own rule (see `time_zone.ts`). For output the IANA database has letters for some families of zones
 * only and signed numbers for the others; the families are listed.
 */

/** Offsets in seconds by lower-case abbreviation; `daylight` counts as daylight saving time. */
const INPUT: Readonly<Record<string, number>> = Object.fromEntries(
  [
    "acdt 10.5,acsst 10.5,acst 9.5,act -5,acwst 8.75,adt -3,aedt 11,aesst 11,aest 10,aft 4.5,akdt -8,akst -9",
    "almst 7,almt 6,amst 5,amt -4,anast 12,anat 12,arst -3,art -3,ast -4,awsst 9,awst 8,azost 0,azot -1,azst 4,azt 4",
    "bdst 2,bdt 6,bnt 8,bort 8,bot -4,bra -3,brst -2,brt -3,bst 1,btt 6,cadt 10.5,cast 9.5,cct 8,cdt -5,cest 2,cet 1",
    "cetdst 2,chadt 13.75,chast 12.75,chut 10,ckt -10,clst -3,clt -4,cot -5,cst -6,cxt 7,davt 7,ddut 10,easst -6",
    "east -6,eat 3,edt -4,eest 3,eet 2,eetdst 3,egst 0,egt -1,est -5,fet 3,fjst 13,fjt 12,fkst -3,fkt -3,fnst -1,fnt -2",
    "galt -6,gamt -9,gest 4,get 4,gft -3,gilt 12,gmt 0,gyt -4,hkt 8,hst -10,ict 7,idt 3,iot 6,irkst 8,irkt 8,irt 3.5",
    "ist 2,jayt 9,jst 9,kdt 10,kgst 6,kgt 6,kost 11,krast 7,krat 7,kst 9,lhdt 11,lhst 10.5,ligt 10,lint 14,lkt 5.5",
    "magst 12,magt 11,mart -9.5,mawt 5,mdt -6,mest 2,mesz 2,met 1,metdst 2,mez 1,mht 12,mmt 6.5,mpt 10,msd 4,msk 3",
    "mst -7,must 5,mut 4,mvt 5,myt 8,ndt -2.5,nft -3.5,novst 7,novt 7,npt 5.75,nst -3.5,nut -11,nzdt 13,nzst 12,nzt 12",
    "omsst 6,omst 6,pdt -7,pet -5,petst 12,pett 12,pgt 10,phot 13,pht 8,pkst 6,pkt 5,pmdt -2,pmst -3,pont 11,pst -8",
    "pwt 9,pyst -3,pyt -4,ret 4,sadt 10.5,sast 2,sct 4,sgt 8,tahiti -10,taht -10,tft 5,tjt 5,tkt 13,tmt 5,tot 13,truk 10,trut 10,tvt 12",
    "uct 0,ulast 9,ulat 8,ut 0,utc 0,uyst -2,uyt -3,uzst 6,uzt 5,vet -4,vlast 10,vlat 10,volt 3,vut 11,wadt 8,wakt 12",
    "wast 7,wat 1,wdt 9,wet 0,wetdst 1,wft 12,wgst -2,wgt -3,yakst 9,yakt 9,yapt 10,yekst 6,yekt 5,xjt 6,z 0,zulu 0",
  ].join(",").split(",").map((entry) => {
    const [name = "", hours = ""] = entry.split(" ");
    return [name, Number(hours) * 3600];
  }),
);

/** Zones by lower-case abbreviations that mean whatever time the zone has at the moment. */
const DYNAMIC: ReadonlyMap<string, string> = new Map(
  [
    "America/Argentina/Buenos_Aires art arst,America/Santiago clt,America/Guyana gyt,America/Asuncion pyt",
    "America/Caracas vet,Antarctica/Davis davt,Antarctica/Mawson mawt,Asia/Yerevan amst",
    "Asia/Anadyr anast anat,Asia/Baku azst azt,Asia/Tbilisi gest get,Asia/Irkutsk irkst irkt",
    "Asia/Bishkek kgt,Asia/Krasnoyarsk krast krat,Asia/Colombo lkt,Asia/Magadan magst magt",
    "Asia/Novosibirsk novst novt,Asia/Omsk omsst omst,Asia/Kamchatka petst pett,Asia/Singapore sgt",
    "Asia/Ashgabat tmt,Asia/Ulaanbaatar ulat,Asia/Vladivostok vlast vlat,Asia/Yakutsk yakst yakt",
    "Asia/Yekaterinburg yekt,Atlantic/Stanley fkst fkt,Australia/Lord_Howe lhdt,Europe/Volgograd volt",
    "Indian/Chagos iot,Pacific/Rarotonga ckt,Pacific/Easter easst east,Pacific/Kosrae kost",
    "Pacific/Kiritimati lint,Pacific/Niue nut,Pacific/Fakaofo tkt",
  ].join(",").split(",").flatMap((entry) => {
    const [zone = "", ...names] = entry.split(" ");
    return names.map((name) => [name, zone] as const);
  }),
);

/** The zone whose time an input abbreviation in lower case means, or undefined when its offset is fixed. */
export function abbreviatedZone(abbreviation: string): string | undefined {
  return DYNAMIC.get(abbreviation);
}

/** The offset in seconds east of UTC of an input abbreviation in lower case, or undefined. */
export function abbreviationOffset(abbreviation: string): number | undefined {
  return Object.hasOwn(INPUT, abbreviation) ? INPUT[abbreviation] : undefined;
}

/** Families of zones that print letters: zones by their names, then `hours=letters`. */
const FAMILIES: readonly string[] = [
  "America/New_York America/Detroit America/Toronto America/Montreal America/Indiana America/Indianapolis " +
  "America/Kentucky America/Louisville America/Nassau America/Port-au-Prince America/Jamaica America/Panama " +
  "America/Cancun America/Iqaluit US/Eastern US/Michigan Canada/Eastern EST5EDT EST Jamaica: -5=EST -4=EDT",
  "America/Chicago America/Winnipeg America/Mexico_City America/Menominee America/North_Dakota America/Regina " +
  "America/Costa_Rica America/Guatemala America/El_Salvador America/Tegucigalpa America/Managua America/Matamoros " +
  "America/Monterrey America/Merida US/Central Canada/Central CST6CDT: -6=CST -5=CDT",
  "America/Denver America/Boise America/Edmonton America/Phoenix America/Chihuahua America/Ciudad_Juarez " +
  "America/Hermosillo America/Mazatlan US/Mountain US/Arizona Canada/Mountain MST7MDT MST: -7=MST -6=MDT",
  "America/Los_Angeles America/Vancouver America/Tijuana US/Pacific Canada/Pacific PST8PDT: -8=PST -7=PDT",
  "America/Anchorage America/Juneau America/Sitka America/Nome America/Metlakatla America/Yakutat US/Alaska: " +
  "-9=AKST -8=AKDT",
  "Pacific/Honolulu US/Hawaii HST: -10=HST",
  "America/Adak: -10=HST -9=HDT",
  "America/Halifax America/Puerto_Rico America/Barbados America/Martinique America/Santo_Domingo Atlantic/Bermuda " +
  "America/Moncton America/Glace_Bay America/Goose_Bay America/Thule Canada/Atlantic: -4=AST -3=ADT",
  "America/St_Johns Canada/Newfoundland: -3.5=NST -2.5=NDT",
  "Europe/London Europe/Belfast Europe/Jersey Europe/Guernsey Europe/Isle_of_Man GB: 0=GMT 1=BST",
  "Europe/Dublin Eire: 0=GMT 1=IST",
  "Europe/Lisbon Atlantic/Madeira Atlantic/Canary Atlantic/Faroe Portugal WET: 0=WET 1=WEST",
  "Europe/Paris Europe/Berlin Europe/Madrid Europe/Rome Europe/Vienna Europe/Zurich Europe/Brussels " +
  "Europe/Amsterdam Europe/Copenhagen Europe/Oslo Europe/Stockholm Europe/Prague Europe/Budapest Europe/Warsaw " +
  "Europe/Belgrade Europe/Zagreb Europe/Ljubljana Europe/Bratislava Europe/Sarajevo Europe/Skopje Europe/Tirane " +
  "Europe/Andorra Europe/Monaco Europe/Luxembourg Europe/Malta Europe/Gibraltar Europe/Vaduz Europe/San_Marino " +
  "Europe/Vatican Europe/Podgorica Europe/Busingen Africa/Algiers Africa/Tunis Africa/Ceuta Arctic/Longyearbyen " +
  "Poland CET MET: 1=CET 2=CEST",
  "Europe/Athens Europe/Helsinki Europe/Kiev Europe/Kyiv Europe/Bucharest Europe/Sofia Europe/Riga Europe/Tallinn " +
  "Europe/Vilnius Europe/Chisinau Europe/Mariehamn Europe/Kaliningrad Asia/Nicosia Asia/Beirut Africa/Cairo " +
  "Africa/Tripoli Egypt Libya EET: 2=EET 3=EEST",
  "Europe/Simferopol: 3=MSK 4=MSD",
  "Asia/Jerusalem Asia/Tel_Aviv Israel: 2=IST 3=IDT",
  "Asia/Kolkata Asia/Calcutta: 5.5=IST",
  "Asia/Karachi: 5=PKT",
  "Asia/Tokyo Japan: 9=JST",
  "Asia/Seoul Asia/Pyongyang ROK: 9=KST",
  "Asia/Shanghai Asia/Taipei Asia/Macau Asia/Chongqing PRC ROC: 8=CST",
  "Asia/Hong_Kong Hongkong: 8=HKT",
  "Asia/Manila: 8=PST",
  "Asia/Jakarta Asia/Pontianak: 7=WIB",
  "Asia/Makassar: 8=WITA",
  "Asia/Jayapura: 9=WIT",
  "Australia/Sydney Australia/Melbourne Australia/Hobart Australia/Canberra Australia/Brisbane Australia/Lindeman " +
  "Australia/ACT Australia/NSW Australia/Victoria Australia/Queensland: 10=AEST 11=AEDT",
  "Australia/Adelaide Australia/Darwin Australia/Broken_Hill Australia/South Australia/North: 9.5=ACST 10.5=ACDT",
  "Australia/Perth Australia/West: 8=AWST",
  "Pacific/Auckland Antarctica/McMurdo NZ: 12=NZST 13=NZDT",
  "Pacific/Guam Pacific/Saipan: 10=ChST",
  "Africa/Johannesburg Africa/Maseru Africa/Mbabane: 2=SAST",
  "Africa/Lagos Africa/Kinshasa Africa/Luanda Africa/Douala Africa/Libreville Africa/Niamey Africa/Ndjamena: 1=WAT",
  "Africa/Nairobi Africa/Addis_Ababa Africa/Kampala Africa/Dar_es_Salaam Africa/Mogadishu Africa/Djibouti " +
  "Indian/Antananarivo Indian/Comoro Indian/Mayotte: 3=EAT",
  "Africa/Maputo Africa/Harare Africa/Lusaka Africa/Kigali Africa/Khartoum Africa/Windhoek Africa/Gaborone " +
  "Africa/Lubumbashi Africa/Blantyre Africa/Bujumbura Africa/Juba: 2=CAT",
  "Africa/Accra Africa/Abidjan Africa/Dakar Africa/Bamako Africa/Monrovia Atlantic/Reykjavik Iceland: 0=GMT",
];

const OUTPUT = new Map<string, ReadonlyMap<number, string>>();
for (const family of FAMILIES) {
  const [zones = "", letters = ""] = family.split(": ");
  const byOffset = new Map(
    letters.split(" ").map((entry) => {
      const [hours = "", name = ""] = entry.split("=");
      return [Number(hours) * 3600, name] as const;
    }),
  );
  for (const zone of zones.split(" ")) OUTPUT.set(zone, byOffset);
}

const HOUR = 3600;
/**
 * Moscow kept Eastern European time from 1991-03-31 to 1992-01-19; from 2011-03-27 on four hours were standard time.
 */
const MOSCOW_EASTERN_EUROPEAN = [670_374_000, 695_779_200] as const;
const MOSCOW_WITHOUT_SUMMER_TIME = 1_301_180_400;

function moscowAbbreviation(offset: number, unixSeconds: number): string | undefined {
  const [from, to] = MOSCOW_EASTERN_EUROPEAN;
  if (unixSeconds >= from && unixSeconds < to) {
    return offset === 2 * HOUR ? "EET" : offset === 3 * HOUR ? "EEST" : undefined;
  }
  if (offset === 3 * HOUR) return "MSK";
  return offset === 4 * HOUR ? (unixSeconds < MOSCOW_WITHOUT_SUMMER_TIME ? "MSD" : "MSK") : undefined;
}

/**
 * The letters that a zone prints at an offset in seconds, at a time in seconds since 1970, or undefined when it prints
 * numbers.
 */
export function zoneAbbreviation(zone: string, offset: number, unixSeconds: number): string | undefined {
  if (zone === "Europe/Moscow" || zone === "W-SU") return moscowAbbreviation(offset, unixSeconds);
  const family = OUTPUT.get(zone) ?? OUTPUT.get(zone.split("/").slice(0, 2).join("/"));
  return family?.get(offset);
}
