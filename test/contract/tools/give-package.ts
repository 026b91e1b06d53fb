export { default } from "keyhole:./give.ts";
