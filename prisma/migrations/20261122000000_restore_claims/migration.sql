-- AlterTable
ALTER TABLE "resource_claim" ADD COLUMN     "result" JSONB;
