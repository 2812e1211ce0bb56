/** Styles of the panels on uncertainty and comparison, for the stylesheet of the page. */

import { chainsStyles } from "./chains.css";
import { commonStyles } from "./common.css";
import { compareStyles } from "./compare.css";
import { drawsStyles } from "./draws.css";
import { togetherStyles } from "./together.css";

export const partStyles = [commonStyles, drawsStyles, togetherStyles, chainsStyles, compareStyles].join("\n");
