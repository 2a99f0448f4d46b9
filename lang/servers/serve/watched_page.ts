/** Pages as `lang serve --watch` gives them: with the script that hears of new builds. */
import client from "./web/client.js" with { type: "text" };

/**
 * A page with the script, which begins before anything of the page's own; `version` names the build that the page is
 * made for.
 */
export function watchedPage(html: string, version: string): string {
  const script = `<script>\n${client.replace('"VERSION"', () => JSON.stringify(version))}</script>`;
  // A page may leave out `<head>`, but nothing stands before its document type.
  const [place = ""] = /^[^]*?<head(?:\s[^>]*)?>/i.exec(html) ?? /^\s*<!doctype[^>]*>/i.exec(html) ?? [];
  return `${place}${script}${html.slice(place.length)}`;
}
