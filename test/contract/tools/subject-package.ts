export { default } from "keyhole:./subject.ts";
