import type { Section } from "../text.tsx";

/**
 * Styles that mark the section in view. A browser without `:target-current` marks the section that the visitor chose.
 * Not in contents.css: Lightning CSS does not know the selector yet.
 */
export function markCurrent(sections: readonly Section[]): string {
  const chosen = sections.map(({ id }) => `:has([id="${id}"]:target)>.contents [href="#${id}"]`).join();
  const mark = "{color:var(--ink);font-weight:600;text-decoration-color:var(--underline)}";
  const fallback = `@supports not selector(:target-current){${chosen}${mark}}`;
  return `@layer screen{.contents ol{scroll-target-group:auto}.contents a:target-current${mark}${fallback}}`;
}

export function Contents({ sections }: { sections: readonly Section[] }) {
  return (
    <nav className="contents" aria-labelledby="contents-title">
      <h2 id="contents-title">On this page</h2>
      <ol>
        {sections.map((section) => (
          <li key={section.id}>
            <a href={`#${section.id}`}>{section.title}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
