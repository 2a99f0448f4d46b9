/** The settings as tables in Markdown, for `docs/functions.md`. */
import { type SettingDefinition, SETTINGS } from "./setting_table.ts";
import { initialText } from "./settings.ts";
import { formatNumber } from "./setting_values.ts";

/** The section of the reference: settings with effect, fixed ones, and those that are only checked. */
export function settingReference(): string {
  const shown = [...SETTINGS.values()];
  const isChangeable = ({ context }: SettingDefinition): boolean =>
    context === "user" || context === "superuser";
  const withEffect = shown.filter((each) => isChangeable(each) && each.effect);
  const withoutEffect = shown.filter((each) => isChangeable(each) && !each.effect);
  const fixed = shown.filter((each) => !isChangeable(each));
  return [
    "## Settings",
    "### With effect",
    table(withEffect),
    "### Accepted and checked, without effect",
    table(withoutEffect),
    "### Fixed",
    table(fixed),
  ].join("\n\n");
}

function table(settings: readonly SettingDefinition[]): string {
  const rows = settings.map((each) =>
    `| \`${each.name}\` | ${values(each)} | ${initialText(each) === "" ? "" : `\`${initialText(each)}\``} |`
  );
  return ["| Setting | Values | Initial |", "| --- | --- | --- |", ...rows].join("\n");
}

function values(definition: SettingDefinition): string {
  switch (definition.type) {
    case "bool":
      return "`on`, `off`";
    case "enum":
      return definition.choices.map((choice) => `\`${choice}\``).join(", ");
    case "string":
      return definition.list ? "names" : "text";
    default: {
      const least = formatNumber(definition, definition.minimum);
      const greatest = formatNumber(definition, definition.maximum);
      const unit = definition.unit === "" ? "" : `, in ${definition.unit} or with a unit`;
      return `${least} to ${greatest}${unit}`;
    }
  }
}
