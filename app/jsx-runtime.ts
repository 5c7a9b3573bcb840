import * as runtime from "react/jsx-runtime";

/** Compiled pages import this, because a page in a folder outside the project cannot resolve packages. */
export const { Fragment, jsx, jsxs } = runtime;
