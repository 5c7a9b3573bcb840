/** One heading of a text, as the build reads it from the MDX. */
export interface Section {
  id: string;
  title: string;
}

/** Marks the section in view, where browsers support it. Not in contents.css: Lightning CSS does not know it yet. */
export const MARK_SECTION_IN_VIEW =
  "@layer screen{.contents ol{scroll-target-group:auto}.contents a:target-current{color:var(--ink);font-weight:600;text-decoration-color:var(--underline)}}";

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
