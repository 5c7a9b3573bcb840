import type { MDXContent } from "mdx/types.js";
import type { ComponentProps } from "react";
import { Contents, markCurrent, type Section } from "../components/contents.tsx";
import { ContactEmail } from "../components/links.tsx";
import type { Screen } from "../screen.ts";
import { site } from "../site.ts";
import type { Link } from "../site-schema.ts";
import styles from "../styles/page.css?inline";

/** A page from a file of `app/pages/`, as prerender/page-files.ts reads it. */
export interface WrittenPage {
  file: string;
  path: string;
  also: readonly string[];
  title: string;
  description: string;
  /** Its second-level headings. */
  sections: readonly Section[];
  pictures: readonly PagePicture[];
  Text: MDXContent;
}

interface PagePicture {
  /** The width of the largest source. */
  width: number;
  height: number;
  /** The largest last. */
  sources: readonly { url: string; width: number }[];
}

/** A page with fewer sections has no table of contents. */
const LONG_PAGE_SECTIONS = 4;
/** The maximum width of a picture in page.css. */
const PICTURE_SIZES = "(min-width: 44rem) 40rem, 90vw";

export function pageScreen(page: WrittenPage, pages: readonly WrittenPage[]): Screen {
  const parents = parentsOf(page, pages);
  const isLong = page.sections.length >= LONG_PAGE_SECTIONS;
  return {
    name: "page",
    title: `${page.title} | ${site.brand}`,
    headline: page.title,
    description: page.description,
    isIndexed: true,
    isPaintedWhole: true,
    written: { file: page.file, parents },
    styles: isLong ? styles + markCurrent(page.sections) : styles,
    // The largest source is an upper bound for the browser's choice.
    fetches: () => page.pictures.map(({ sources }) => ({ kind: "picture", urls: [sources.at(-1)?.url ?? ""] })),
    render: ({ settings }) => (
      <article className={isLong ? "page page-long" : "page"}>
        {parents.length > 1 && <Breadcrumb links={parents} />}
        <h1>{page.title}</h1>
        <p className="print-only">
          {site.legalName}, {settings.siteUrl}
          {page.path}
        </p>
        {isLong && <Contents sections={page.sections} />}
        <div className="page-text">
          <page.Text
            components={{
              ...TEXT_COMPONENTS,
              img: ({ src, alt, title }) => <Picture picture={page.pictures[Number(src)]} alt={alt} caption={title} />,
            }}
          />
        </div>
      </article>
    ),
  };
}

/** The home page and every parent that exists: for `/articles/first` also `/articles`, if that page is written. */
function parentsOf({ path }: WrittenPage, pages: readonly WrittenPage[]): Link[] {
  const written = pages.filter((page) => path.startsWith(`${page.path}/`));
  return [
    { label: "Home", href: "/" },
    ...written
      .toSorted((a, b) => a.path.length - b.path.length)
      .map((page) => ({ label: page.title, href: page.path })),
  ];
}

function Breadcrumb({ links }: { links: readonly Link[] }) {
  return (
    <nav className="breadcrumb" aria-label="Breadcrumb">
      <ol>
        {links.map(({ label, href }) => (
          <li key={href}>
            <a href={href}>{label}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** The Markdown elements that need a component. CSS styles the others by element. */
export const TEXT_COMPONENTS = {
  ContactEmail,
  table: Table,
  th: ({ align, ...props }: ComponentProps<"th">) => <th {...(align && { className: `align-${align}` })} {...props} />,
  td: ({ align, ...props }: ComponentProps<"td">) => <td {...(align && { className: `align-${align}` })} {...props} />,
};

/** A wide table scrolls within a box, which must be reachable by keyboard. `title` is the heading that it is under. */
function Table({ title, children }: ComponentProps<"table">) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields
    <div className="table-box" role="group" aria-label={`Table: ${title}`} tabIndex={0}>
      <table>{children}</table>
    </div>
  );
}

interface PictureProps {
  picture: PagePicture | undefined;
  alt: string | undefined;
  caption: string | undefined;
}

/**
 * Reserves its space until the picture has loaded, so that nothing moves. Does not load lazily: WebKit prints a page
 * without the lazy pictures that were never in view.
 */
function Picture({ picture, alt = "", caption }: PictureProps) {
  if (!picture) return null;
  const image = (
    <img
      src={picture.sources.at(-1)?.url}
      {...(picture.sources.length > 1 && { srcSet: sourceSet(picture), sizes: PICTURE_SIZES })}
      width={picture.width}
      height={picture.height}
      alt={alt}
      decoding="async"
    />
  );
  if (!caption) return image;
  return (
    <figure>
      {image}
      <figcaption>{caption}</figcaption>
    </figure>
  );
}

function sourceSet({ sources }: PagePicture): string {
  return sources.map(({ url, width }) => `${url} ${width}w`).join(", ");
}
