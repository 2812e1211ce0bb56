/** Styles of the panels on uncertainty and comparison, for the stylesheet of the page. */
export const partStyles = "";
