import * as runtime from "react/jsx-runtime";

/** What compiled pages import: they may be in a folder outside the project, from where no package is found. */
export const { Fragment, jsx, jsxs } = runtime;
