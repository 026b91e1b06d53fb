export { default } from "keyhole:./lend.ts";
